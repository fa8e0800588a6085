"""One round of upkeep."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
from sqlalchemy.exc import OperationalError

from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.dependencies import KeyFormat
from airflow_partitions.errors import PartitionError, StorageError
from airflow_partitions.graph.serialized_dags import SerializedDags, fingerprint, read_serialized_dags
from airflow_partitions.history.ledger import update_ledger
from airflow_partitions.history.new_events import SETTLED, NewEvents
from airflow_partitions.requests.hold import release_ended
from airflow_partitions.upkeep.answers import answer_all
from airflow_partitions.upkeep.behind import Positions, read_positions
from airflow_partitions.upkeep.catch_up import catch_up
from airflow_partitions.upkeep.pending_rows import HARMLESS, KEEP_FIRED, delete_fired, delete_hopeless
from airflow_partitions.upkeep.requests import delete_old_requests, finish_requests
from airflow_partitions.upkeep.tables import TableUpkeep, TableWork
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
    :ivar requests: requests whose runs were created because their maker was killed.
    :ivar tables: what was done to tables of assets.
    :ivar problems: failures for single assets and Dags, each as a sentence.
    """

    assets: int
    records: int
    caught_up: int
    fired: int
    hopeless: int
    requests: int = 0
    tables: tuple[TableUpkeep, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def idle(self) -> bool:
        """Whether there was nothing to do."""
        work = self.records, self.caught_up, self.fired, self.hopeless, self.requests, self.tables
        return not (any(work) or self.problems)

    def without(self, problems: Collection[str]) -> Round:
        """This round, and of its problems those that are not among *problems*."""
        return attrs.evolve(self, problems=tuple(problem for problem in self.problems if problem not in problems))

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
        self._ledgers: dict[str, PartitionDefinition | KeyFormat] = {}
        self._consumers: dict[str, dict[str, Any]] = {}
        self._whole: datetime | None = None

    def round(self, *, harmless: int = HARMLESS, keep_fired: timedelta = KEEP_FIRED) -> Round:
        """Bring the ledgers up to date, catch up after pauses, delete pending rows that can never fire, create the runs
        of requests whose maker was killed, and let tables be kept small.

        A failure for one asset or Dag is reported, and does not keep the others.

        :param harmless: so many waiting rows are left where Airflow's pages show them.
        :param keep_fired: time for which rows that fired are kept.
        """
        now = datetime.now(UTC)
        is_whole = self._whole is None or abs(now - self._whole) >= SETTLED
        first = dict[str, int]()
        for event in self._events.read():  # by id
            first.setdefault(event.asset, event.id - 1)
        dags, requests = read_serialized_dags(), 0
        positions = read_positions() if is_whole else None
        problems = dict.fromkeys(dags.problems)  # in their order, each once
        records = self._update_ledgers(dags, positions, first, problems)
        caught_up = self._catch_up(dags, positions, first, problems)
        with _reporting("requests of tasks", problems) as report:
            answer_all(dags.definitions, report)
        hopeless = delete_hopeless(dags.consumers, harmless, problems)
        fired = delete_fired(keep_fired) if is_whole else 0
        self._whole = now if is_whole else self._whole
        with _reporting("requests", problems) as report:
            requests = finish_requests(report)
            release_ended(report)
            if is_whole:
                delete_old_requests()
        tables = self._maintain(dags, problems, begin=is_whole)
        return Round(
            len(dags.definitions), records, caught_up, fired, hopeless, requests, tuple(tables), tuple(problems)
        )

    def _maintain(self, dags: SerializedDags, problems: dict[str, None], *, begin: bool) -> list[TableUpkeep]:
        """Let tables that are due be kept small; what was done to those that are ready."""

        def report(problem: str) -> None:
            problems[problem] = None

        if begin:
            self._tables.begin(dags.tables, report)
        return self._tables.ended(report, wait=self._wait)

    def close(self) -> None:
        """End what goes on beside the rounds."""
        self._tables.close()

    def _update_ledgers(
        self, dags: SerializedDags, positions: Positions | None, first: Mapping[str, int], problems: dict[str, None]
    ) -> int:
        """Bring ledgers up to date; returns how many partitions were written."""
        new = {asset for asset, definition in dags.definitions.items() if self._ledgers.get(asset) != definition}
        behind = new.union(first) if positions is None else set(positions.ledgers_behind(dags.definitions))
        self._ledgers, records = dict(dags.definitions), 0
        for asset, definition in dags.definitions.items():
            if asset in behind:
                with _reporting(f"asset {asset!r}", problems) as report:
                    after = None if positions is not None or asset in new else first[asset]
                    del self._ledgers[asset]  # all of it is looked at again if that fails
                    update = update_ledger(asset, definition, report, after=after)
                    self._ledgers[asset] = definition
                    records += update.records
                    if problem := update.problem:
                        report(problem)
        return records

    def _catch_up(
        self, dags: SerializedDags, positions: Positions | None, first: Mapping[str, int], problems: dict[str, None]
    ) -> int:
        """Catch up what consumers have missed; returns how many partitions were asked for."""
        before, caught_up = self._consumers, 0
        self._consumers = {}
        for dag_id, timetable in dags.consumers.items():
            with _reporting(f"Dag {dag_id!r}", problems) as report:
                prints = fingerprint(timetable)
                if positions is not None:
                    if positions.is_behind(dag_id, timetable, prints):
                        caught_up += catch_up(dag_id, timetable, report)
                elif before.get(dag_id) != prints:
                    caught_up += catch_up(dag_id, timetable, report)
                elif after := {
                    asset: first[asset]
                    for asset in first
                    if timetable.upstreams and asset in timetable.upstreams.leaves
                }:
                    caught_up += catch_up(dag_id, timetable, report, after)
                self._consumers[dag_id] = prints
        return caught_up


def one_round(*, harmless: int = HARMLESS, keep_fired: timedelta = KEEP_FIRED) -> Round:
    """One round of :class:`Upkeep`."""
    return Upkeep(wait=True).round(harmless=harmless, keep_fired=keep_fired)


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
