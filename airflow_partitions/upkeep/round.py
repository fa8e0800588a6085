"""One round of upkeep."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import attrs

from airflow_partitions.errors import PartitionError, UnknownVersionError
from airflow_partitions.history.ledger import update_ledger
from airflow_partitions.upkeep.catch_up import catch_up
from airflow_partitions.upkeep.pending_rows import HARMLESS, KEEP_FIRED, delete_fired, delete_hopeless
from airflow_partitions.upkeep.serialized_dags import read_serialized_dags


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
        try:
            update = update_ledger(asset, definition)
        except UnknownVersionError as error:
            problems[f"asset {asset!r}: {error}"] = None
            continue
        records += update.records
        problems |= dict.fromkeys(f"asset {asset!r}: {reason}" for reason in update.malformed.values())
    for dag_id, timetable in dags.consumers.items():
        try:
            caught_up += catch_up(dag_id, timetable)
        except PartitionError as error:
            problems[f"Dag {dag_id!r}: {error}"] = None
    hopeless = delete_hopeless(dags.consumers, harmless)
    return Round(
        len(dags.definitions), records, caught_up, delete_fired(keep_fired), hopeless, tuple(dict.fromkeys(problems))
    )
