"""One round of upkeep."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import attrs

from airflow_partitions.errors import PartitionError
from airflow_partitions.history.ledger import advance
from airflow_partitions.upkeep.catch_up import catch_up
from airflow_partitions.upkeep.pending_rows import HARMLESS, KEEP_FIRED, take_fired, take_waiting
from airflow_partitions.upkeep.serialized_dags import wired


@attrs.frozen
class Round:
    """What a round did.

    :ivar assets: assets whose ledger was looked at.
    :ivar records: partitions written to ledgers.
    :ivar caught_up: partitions asked for because of events that their consumers had missed.
    :ivar fired: pending rows taken away because they fired long ago.
    :ivar waiting: pending rows taken away because they had nothing to do.
    :ivar problems: what could not be done, each as a sentence.
    """

    assets: int
    records: int
    caught_up: int
    fired: int
    waiting: int
    problems: tuple[str, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        return not (self.records or self.caught_up or self.fired or self.waiting or self.problems)

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return attrs.asdict(self)


def one_round(*, harmless: int = HARMLESS, keep_fired: timedelta = KEEP_FIRED) -> Round:
    """Bring the ledgers up to date, catch up after pauses, take away pending rows without a future.

    What fails for one asset or Dag is told, and does not keep the others.

    :param harmless: so many waiting rows are left where Airflow's pages show them.
    :param keep_fired: how long rows that fired are kept.
    """
    known = wired()
    problems = dict.fromkeys(known.problems)  # in their order, each once
    records = caught_up = 0
    for asset, definition in known.definitions.items():
        progress = advance(asset, definition)
        records += progress.records
        problems |= dict.fromkeys(f"asset {asset!r}: {reason}" for reason in progress.malformed.values())
    for dag_id, timetable in known.consumers.items():
        try:
            caught_up += catch_up(dag_id, timetable)
        except PartitionError as error:
            problems[f"Dag {dag_id!r}: {error}"] = None
    waiting = take_waiting(known.consumers, harmless)
    return Round(
        len(known.definitions), records, caught_up, take_fired(keep_fired), waiting, tuple(dict.fromkeys(problems))
    )
