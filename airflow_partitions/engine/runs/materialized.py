"""The materialized partitions of an asset, for tasks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from airflow.sdk import Asset, get_current_context
from airflow.sdk.execution_time.context import AssetStateStoreAccessor, InletEventsAccessor

from airflow_partitions.core.definitions.whole import UNKEYED, WholeAsset
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, UnreadableEventsError
from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.ledger.addresses import Addresses, keys_of
from airflow_partitions.engine.ledger.forgotten import Forgotten
from airflow_partitions.engine.ledger.ledger_pages import (
    FORGOTTEN,
    PROGRESS,
    LedgerProgress,
    months_with,
    page_cell,
    read_page,
)
from airflow_partitions.engine.runs.asset_events import read_events
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.asset_extra import read_extra

if TYPE_CHECKING:
    from airflow.sdk.definitions.asset import AssetNameRef
    from airflow.sdk.execution_time.comms import AssetEventResult

    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.core.dependencies import KeyFormat
    from airflow_partitions.core.keys import Key

T = TypeVar("T")

log = logging.getLogger(__name__)

# Airflow looks up the runs that each event started one by one, and a task waits for an answer for five seconds.
_AT_ONCE = 100
#: Seconds for which upkeep is waited for, and between two looks at what it has kept.
_PATIENCE, _LOOK_AGAIN = 60.0, 5.0
_NEXT = timedelta(microseconds=1)


def materialized(
    asset: Asset | AssetNameRef | str, keys: Selection | Iterable[Any] | None = None
) -> dict[str, datetime]:
    """Times at which partitions of *asset* were last materialized, by the text of their keys; for tasks.

    Those that never were, or that somebody has forgotten since, are left out. It is right at the moment of the call,
    whether or not upkeep runs, and knows of partitions whose events were purged if upkeep has seen them.

    It asks the API server three times, once more for each month in UTC that has partitions asked for (once in all,
    without a time dimension), and once for each 100 events of the asset since ten minutes before upkeep last found
    some. Where upkeep has never run, these are all events of the asset.

    .. code-block:: python

        @asset(schedule="@daily", partition=PartitionByInterval("@daily"))
        def report(partition):
            hours = Selection.between(HOURS, partition.start, partition.end)
            missing = hours - Selection.of(HOURS, *materialized(readings, hours))

    :param asset: the asset, a reference to it by name, or its name. It need not be an inlet of the task.
    :param keys: the partitions to look for, a selection or keys; all if not given.
    :raises InvalidDefinitionError: if there is no such asset, nobody says what partitions it has, or *keys* is a
        selection of others.
    :raises InvalidKeyError: if one of *keys* is none of the asset's.
    :raises UnknownVersionError: if another release wrote the ledger.
    :raises UnreadableEventsError: if Airflow can't tell the newest events, since a run that one of them has started is
        queued, and upkeep has not seen them within a minute.
    """
    return AssetHistory(asset, get_current_context()["dag"].timetable, keys).last()


class AssetHistory:
    """The times at which partitions of an asset were materialized, as a task reads them.

    :param asset: the asset, a reference to it by name, or its name.
    :param timetable: of the task's Dag.
    :param keys: the partitions to look for, a selection or keys; all if not given.
    :raises InvalidDefinitionError: as for :func:`materialized`.
    """

    def __init__(
        self, asset: Asset | AssetNameRef | str, timetable: Any, keys: Selection | Iterable[Any] | None = None
    ) -> None:
        self._name = asset if isinstance(asset, str) else asset.name
        extras = [getattr(asset, "extra", {}), _active(self._name).extra]
        self._store = AssetStateStoreAccessor(name=self._name)
        self._progress = self._read(PROGRESS, LedgerProgress.from_json)
        self._definition = _definition(self._name, timetable, extras, self._progress, keys)
        self._addresses = Addresses.by(self._definition)
        self._keys = keys

    @property
    def definition(self) -> PartitionDefinition:
        """Of the asset's partitions."""
        return self._addresses.definition

    def last(self) -> dict[str, datetime]:
        """The last time of each partition that was materialized, by the text of its key."""
        selection = _selection(self._name, self._addresses, self._keys)
        times = {text: last for text, (_, last) in self._times(selection).items()}
        return {text: at for text, at in times.items() if _selected(text, self.definition, selection)}

    def before(self, moment: datetime, selection: Selection) -> Selection:
        """Those of a *selection* that were materialized before an aware *moment*."""
        keys = {
            key: first
            for text, (first, _) in self._times(selection).items()
            for key in _keys(self.definition, text)
            if key in selection
        }
        return Selection.of(self.definition, *(key for key, first in keys.items() if first < moment))

    def missing(self, selection: Selection) -> Selection:
        """Those of a *selection* that never were materialized."""
        _check_family(self._name, self._addresses, selection)
        keys = (key for text in self._times(selection) for key in _keys(self.definition, text))
        return selection - Selection.of(selection.definition, *(key for key in keys if key in selection))

    def _times(self, selection: Selection | None) -> dict[str, tuple[datetime, datetime]]:
        """The first and the last time that pages and newer events have, by key."""
        times: dict[str, tuple[datetime, datetime]] = {}
        since, progress = None, self._progress
        if progress is not None and progress.addresses.family == self._addresses.family:
            months = progress.months if selection is None else months_with(selection, progress.months)
            pages = self._pages(months)
            times |= {text: both for page in pages for text, both in (page or {}).items()}
            since = None if None in pages else progress.until  # what a lost page had, the events may still tell
        forgotten = self._read(FORGOTTEN, Forgotten.from_json) or Forgotten()
        try:
            events = list(_events(self._name, since))
        except UnreadableEventsError:
            kept, events = self._kept()
            times |= kept
        for event in events:
            at = event.timestamp
            for key in _keys(self._definition, event.partition_key):
                if forgotten.hides(key, event.id):
                    continue
                first, last = times.get(str(key), (at, at))
                times[str(key)] = min(first, at), max(last, at)
        return times

    def _kept(self) -> tuple[dict[str, tuple[datetime, datetime]], list[AssetEventResult]]:
        """The times that upkeep has kept of all partitions, and the events since the newest of them.

        Waits for upkeep to see the events that can't be read. One whose transaction was open at that moment is missed.

        :raises UnreadableEventsError: if it does not.
        """
        until = time.monotonic() + _PATIENCE
        while True:
            progress = self._read(PROGRESS, LedgerProgress.from_json)
            is_own = progress is not None and progress.addresses.family == self._addresses.family
            pages = self._pages(progress.months) if progress is not None and is_own else []
            times = {text: both for page in pages for text, both in (page or {}).items()}
            # What a lost page had, only the events may still tell.
            newest = None if None in pages else max((last for _, last in times.values()), default=None)
            try:
                return times, list(_events(self._name, None if newest is None else newest + _NEXT))
            except UnreadableEventsError:
                if time.monotonic() > until:
                    raise
            time.sleep(_LOOK_AGAIN)

    def _pages(self, months: Iterable[str]) -> list[Mapping[str, tuple[datetime, datetime]] | None]:
        return [self._read(page_cell(self._addresses, month), read_page) for month in months]

    def _read(self, cell: str, read: Callable[[Any], T]) -> T | None:
        return read_form(self._store.get(cell), read, f"the cell {cell} of asset {self._name!r}", log.warning)


def _active(name: str) -> Asset:
    """The active asset called *name*."""
    from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
    from airflow.sdk.execution_time.comms import AssetResult, ErrorResponse, GetAssetByName
    from airflow.sdk.execution_time.task_runner import SUPERVISOR_COMMS

    answer = SUPERVISOR_COMMS.send(GetAssetByName(name=name))
    if isinstance(answer, AssetResult):
        return Asset(**answer.model_dump(exclude={"type"}))
    if isinstance(answer, ErrorResponse) and answer.error != ErrorType.ASSET_NOT_FOUND:
        raise AirflowRuntimeError(answer)
    raise InvalidDefinitionError(
        f"there is no asset {name!r} now; expected one that a Dag writes, reads or is scheduled on"
    )


def _definition(
    name: str, timetable: Any, extras: Iterable[dict[str, Any]], progress: LedgerProgress | None, keys: Any
) -> PartitionDefinition | KeyFormat:
    """Of the keys of the asset's events; the Dag's own word goes first."""
    upstreams = timetable.upstreams if isinstance(timetable, Partitioned) else None
    if upstreams is not None and name in upstreams.leaves and upstreams.declared(name) is not None:
        member = upstreams.member(name)
        return member.key_format or member.definition
    for extra in extras:
        if produced := read_extra(extra):
            return produced.definition
    if progress is not None:
        return progress.definition
    if isinstance(keys, Selection):
        return keys.definition
    raise InvalidDefinitionError(
        f"nobody says what partitions asset {name!r} has; name the ones you ask for by a Selection of its definition,"
        " or let a Dag with @asset(partition=…) make it"
    )


def _selection(name: str, addresses: Addresses, keys: Selection | Iterable[Any] | None) -> Selection | None:
    if keys is None:
        return None
    if not isinstance(keys, Selection):
        return Selection.of(addresses.definition, *keys)
    _check_family(name, addresses, keys)
    return keys


def _check_family(name: str, addresses: Addresses, selection: Selection) -> None:
    """Refuse a *selection* of other partitions than the asset called *name* has."""
    if Addresses(selection.definition).family != addresses.family:
        raise InvalidDefinitionError(
            f"asset {name!r} has partitions {addresses.definition!r}; given a selection of {selection.definition!r}"
        )


def _events(name: str, since: datetime | None) -> Iterator[AssetEventResult]:
    """The events of an asset from an instant on, oldest first; some of them twice."""
    most = _AT_ONCE
    while True:
        accessor = InletEventsAccessor(asset_name=name).limit(most)
        events = read_events(accessor if since is None else accessor.after(since.isoformat()), name)
        yield from events
        if len(events) < most:
            return
        if events[-1].timestamp == since:  # so many at one instant
            most *= 2
        since = events[-1].timestamp


def _keys(definition: PartitionDefinition | KeyFormat, text: str | None) -> Iterable[Key]:
    """The keys an event is about: none, if its text is none of the definition; upkeep says so."""
    try:
        if text is None and isinstance(definition, WholeAsset):
            text = UNKEYED
        return () if text is None else keys_of(definition, text)
    except InvalidKeyError:
        return ()


def _selected(text: str, definition: PartitionDefinition, selection: Selection | None) -> bool:
    return any(selection is None or key in selection for key in _keys(definition, text))
