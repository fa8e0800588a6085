"""One round of upkeep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.engine.graph.serialized_dags import SerializedDagReader, SerializedDags
from airflow_partitions.engine.ledger.key_table import take_over_all
from airflow_partitions.engine.ledger.ledger import update_ledger
from airflow_partitions.engine.ledger.new_events import SETTLED, NewEvents
from airflow_partitions.operate.requests.hold import release_ended
from airflow_partitions.operate.upkeep.answers import answer_all
from airflow_partitions.operate.upkeep.behind import EventPositions, read_positions
from airflow_partitions.operate.upkeep.catch_up import catch_up
from airflow_partitions.operate.upkeep.consumers import delete_unused, digest
from airflow_partitions.operate.upkeep.mailboxes import renew_mailboxes
from airflow_partitions.operate.upkeep.pending_rows import (
    HARMLESS,
    KEEP_FIRED,
    delete_fired,
    delete_hopeless,
    postpone_early,
)
from airflow_partitions.operate.upkeep.problems import Problems
from airflow_partitions.operate.upkeep.tables import TableUpkeep, TableWork
from airflow_partitions.operate.upkeep.unfinished_batches import delete_old_members, finish_batches
from airflow_partitions.operate.upkeep.unfinished_requests import delete_old_requests, finish_requests
from airflow_partitions.operate.upkeep.waiting_runs import look_at_limits


@attrs.frozen
class Round:
    """Outcome of a round.

    :ivar assets: assets whose ledger was looked at.
    :ivar records: partitions written to ledgers.
    :ivar caught_up: partitions asked for because of events that their consumers had missed.
    :ivar fired: pending rows deleted because they fired long ago.
    :ivar hopeless: pending rows deleted because they can never fire.
    :ivar requests: requests whose runs were created because their maker was killed.
    :ivar batches: batches whose runs were ended because the scheduler had not.
    :ivar tables: what was done to tables of assets.
    :ivar problems: failures for single assets, Dags and jobs, each as a sentence; of a process's rounds, what lasts is
        told by the first.
    """

    assets: int
    records: int
    caught_up: int
    fired: int
    hopeless: int
    requests: int = 0
    batches: int = 0
    tables: tuple[TableUpkeep, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        work = self.records, self.caught_up, self.fired, self.hopeless, self.requests, self.batches, self.tables
        return not (any(work) or self.problems)

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return attrs.asdict(self)


class Upkeep:
    """Upkeep by one process.

    A first round looks at all that is behind its events. Those after it look at what is new, so that an idle one asks
    a few questions, however many assets there are; and after a while one looks at all again.

    :param wait: let a round wait until the tables of assets are looked after, rather than go on beside it.
    """

    def __init__(self, *, wait: bool = False) -> None:
        self._wait = wait
        self._tables = TableWork()
        self._events = NewEvents()
        self._dags = SerializedDagReader()
        self._problems = Problems()
        self._ledgers: dict[str, PartitionDefinition | KeyFormat] = {}
        self._consumers: dict[str, Mapping[str, Any]] = {}
        self._whole: datetime | None = None

    def round(
        self,
        *,
        harmless: int = HARMLESS,
        keep_fired: timedelta = KEEP_FIRED,
        beat: Callable[[], None] = lambda: None,
    ) -> Round:
        """Bring the ledgers up to date, catch up after pauses, delete pending rows that can never fire, create the runs
        of requests whose maker was killed, and let tables be kept small.

        A failure for one asset, Dag or job is reported, and does not keep the others.

        :param harmless: so many waiting rows are left where Airflow's pages show them.
        :param keep_fired: time for which rows that fired are kept.
        :param beat: is called again and again, however long the round takes.
        """
        now = datetime.now(UTC)
        is_whole = self._whole is None or abs(now - self._whole) >= SETTLED
        first = dict[str, int]()
        for event in self._events.read():  # by id
            first.setdefault(event.asset, event.id - 1)
        dags = self._dags.read()
        with self._problems.of("graph", named=False) as report:
            for problem in dags.problems:
                report(problem)
        positions = read_positions() if is_whole else None
        records = self._update_ledgers(dags, positions, first, beat)
        if any(isinstance(definition, PartitionAtRuntime) for definition in dags.definitions.values()):
            with self._problems.of("runtime keys") as report:
                take_over_all(report)
        caught_up = self._catch_up(dags, positions, first, beat)
        hopeless = fired = requests = batches = 0
        with self._problems.of("requests of tasks") as report:
            answer_all(report)
        beat()
        with self._problems.of("pending rows") as report:
            hopeless = delete_hopeless(dags.consumers, harmless, report)
            postpone_early(dags.consumers, harmless, report)
        beat()
        with self._problems.of("requests") as report:
            requests = finish_requests(report)
        beat()
        with self._problems.of("batches") as report:
            batches = finish_batches(report)
        with self._problems.of("limits"):
            look_at_limits()
        beat()
        with self._problems.of("holds") as report:
            release_ended(report)
        if is_whole:
            fired = self._delete_old(keep_fired)
            self._whole = now
        beat()
        tables = self._maintain(dags, begin=is_whole)
        return Round(
            len(dags.definitions),
            records,
            caught_up,
            fired,
            hopeless,
            requests,
            batches,
            tuple(tables),
            self._problems.new(),
        )

    def _delete_old(self, keep_fired: timedelta) -> int:
        """Delete what is of no use any more; returns how many of the rows that fired."""
        fired = 0
        with self._problems.of("rows that fired"):
            fired = delete_fired(keep_fired)
        with self._problems.of("old requests"):
            delete_old_requests()
        with self._problems.of("old members of batches"):
            delete_old_members()
        with self._problems.of("old positions of consumers"):
            delete_unused({dag_id: digest(prints) for dag_id, prints in self._consumers.items()})
        return fired

    def _maintain(self, dags: SerializedDags, *, begin: bool) -> list[TableUpkeep]:
        """Let tables that are due be kept small; what was done to those that are ready."""
        tables: list[TableUpkeep] = []
        with self._problems.of("tables", named=False) as report:
            if begin:
                self._tables.begin(dags.tables)
            tables += self._tables.ended(report, wait=self._wait)
        return tables

    def close(self) -> None:
        """End what goes on beside the rounds."""
        self._tables.close()

    def _update_ledgers(
        self, dags: SerializedDags, positions: EventPositions | None, first: Mapping[str, int], beat: Callable[[], None]
    ) -> int:
        """Bring ledgers up to date; returns how many partitions were written."""
        new = {asset for asset, definition in dags.definitions.items() if self._ledgers.get(asset) != definition}
        behind = new.union(first) if positions is None else set(positions.ledgers_behind(dags.definitions))
        self._ledgers, records = dict(dags.definitions), 0
        for asset, definition in dags.definitions.items():
            if asset in behind:
                beat()
                with self._problems.of(f"asset {asset!r}") as report:
                    after = None if positions is not None or asset in new else first[asset]
                    del self._ledgers[asset]  # all of it is looked at again if that fails
                    update = update_ledger(asset, definition, report, after=after)
                    self._ledgers[asset] = definition
                    records += update.records
                    if problem := update.problem:
                        report(problem)
        if new or positions is not None:  # an asset that is back, or was away for a moment only
            with self._problems.of("what tasks read") as report:
                renew_mailboxes(report)
        return records

    def _catch_up(
        self, dags: SerializedDags, positions: EventPositions | None, first: Mapping[str, int], beat: Callable[[], None]
    ) -> int:
        """Catch up what consumers have missed; returns how many partitions were asked for."""
        before, caught_up = self._consumers, 0
        self._consumers = {}
        for dag_id, timetable in dags.consumers.items():
            beat()
            with self._problems.of(f"Dag {dag_id!r}"):
                prints = dags.fingerprint(dag_id)
                if positions is not None:
                    if positions.is_behind(dag_id, timetable, prints):
                        caught_up += catch_up(dag_id, timetable)
                elif before.get(dag_id) != prints:
                    caught_up += catch_up(dag_id, timetable)
                elif after := {
                    asset: first[asset]
                    for asset in first
                    if timetable.upstreams and asset in timetable.upstreams.leaves
                }:
                    caught_up += catch_up(dag_id, timetable, after)
                self._consumers[dag_id] = prints
        return caught_up


def one_round(*, harmless: int = HARMLESS, keep_fired: timedelta = KEEP_FIRED) -> Round:
    """One round of :class:`Upkeep`."""
    return Upkeep(wait=True).round(harmless=harmless, keep_fired=keep_fired)
