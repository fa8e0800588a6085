"""One round of upkeep."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import attrs
from sqlalchemy.exc import OperationalError

from airflow_partitions.errors import PartitionError, StorageError
from airflow_partitions.history.ledger import update_ledger
from airflow_partitions.upkeep.catch_up import catch_up
from airflow_partitions.upkeep.pending_rows import HARMLESS, KEEP_FIRED, delete_fired, delete_hopeless
from airflow_partitions.upkeep.serialized_dags import read_serialized_dags
from airflow_partitions.versions import Report

log = logging.getLogger(__name__)


@attrs.frozen
class Round:
    """Outcome of a round.

    :ivar assets: assets whose ledger was looked at.
    :ivar records: partitions written to ledgers.
    :ivar caught_up: partitions asked for because of events that their consumers had missed.
    :ivar fired: pending rows deleted because they fired long ago.
    :ivar hopeless: pending rows deleted because they can never fire.
    :ivar problems: failures for single assets and Dags, each as a sentence.
    """

    assets: int
    records: int
    caught_up: int
    fired: int
    hopeless: int
    problems: tuple[str, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.records or self.caught_up or self.fired or self.hopeless or self.problems)

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return attrs.asdict(self)


def one_round(*, harmless: int = HARMLESS, keep_fired: timedelta = KEEP_FIRED) -> Round:
    """Bring the ledgers up to date, catch up after pauses, delete pending rows that can never fire.

    A failure for one asset or Dag is reported, and does not keep the others.

    :param harmless: so many waiting rows are left where Airflow's pages show them.
    :param keep_fired: time for which rows that fired are kept.
    """
    dags = read_serialized_dags()
    problems = dict.fromkeys(dags.problems)  # in their order, each once
    records = caught_up = 0
    for asset, definition in dags.definitions.items():
        with _reporting(f"asset {asset!r}", problems) as report:
            update = update_ledger(asset, definition, report)
            records += update.records
            for reason in update.malformed.values():
                report(reason)
    for dag_id, timetable in dags.consumers.items():
        with _reporting(f"Dag {dag_id!r}", problems) as report:
            caught_up += catch_up(dag_id, timetable, report)
    hopeless = delete_hopeless(dags.consumers, harmless)
    return Round(len(dags.definitions), records, caught_up, delete_fired(keep_fired), hopeless, tuple(problems))


@contextmanager
def _reporting(subject: str, problems: dict[str, None]) -> Iterator[Report]:
    """Let what fails for one asset or Dag be a problem, and keep nothing else from being done."""

    def report(problem: str) -> None:
        problems[f"{subject}: {problem}"] = None

    try:
        yield report
    except (StorageError, OperationalError):  # nothing else would work either
        raise
    except PartitionError as error:
        report(str(error))
    except Exception as error:
        log.exception("Upkeep of %s failed", subject)
        report(f"{type(error).__name__}: {error}")
