"""The materialised partitions of an asset, for tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, get_current_context
from airflow.sdk.execution_time.context import AssetStateStoreAccessor, InletEventsAccessor

from airflow_partitions.dependencies import Selection
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.history.addresses import Addresses, keys_of
from airflow_partitions.history.ledger_pages import PROGRESS, LedgerProgress, months_with, page_cell, read_page
from airflow_partitions.timetables import Partitioned
from airflow_partitions.timetables.asset_extra import read_extra

if TYPE_CHECKING:
    from airflow.sdk.definitions.asset import AssetNameRef
    from airflow.sdk.execution_time.comms import AssetEventResult

    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.dependencies import KeyFormat
    from airflow_partitions.keys import Key

# Airflow looks up the runs that each event started one by one, and a task waits for an answer for five seconds.
_AT_ONCE = 100


def materialised(
    asset: Asset | AssetNameRef | str, keys: Selection | Iterable[Any] | None = None
) -> dict[str, datetime]:
    """Times at which partitions of *asset* were last materialised, by the text of their keys; for tasks.

    Those that never were are left out. It is right at the moment of the call, whether or not upkeep runs, and knows of
    partitions whose events were purged if upkeep has seen them.

    It asks the API server twice, once more for each month in UTC that has partitions asked for (once in all, without a
    time dimension), and once for each 100 events of the asset since an hour before upkeep last found some. Where
    upkeep has never run, these are all events of the asset.

    .. code-block:: python

        @asset(schedule="@daily", partition=PartitionByInterval("@daily"))
        def report(partition):
            hours = Selection.between(HOURS, partition.start, partition.end)
            missing = hours - Selection.of(HOURS, *materialised(readings, hours))

    :param asset: the asset, a reference to it by name, or its name. It need not be an inlet of the task.
    :param keys: the partitions to look for, a selection or keys; all if not given.
    :raises InvalidDefinitionError: if there is no such asset, nobody says what partitions it has, or *keys* is a
        selection of others.
    :raises InvalidKeyError: if one of *keys* is none of the asset's.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    timetable: Any = get_current_context()["dag"].timetable
    name = asset if isinstance(asset, str) else asset.name
    extras = [getattr(asset, "extra", {}), _active(name).extra]
    store = AssetStateStoreAccessor(name=name)
    form: Any = store.get(PROGRESS)
    progress = None if form is None else LedgerProgress.from_json(form)
    definition = _definition(name, timetable, extras, progress, keys)
    addresses = Addresses.by(definition)
    selection = _selection(name, addresses, keys)
    times: dict[str, datetime] = {}
    since = None
    if progress is not None and progress.addresses.family == addresses.family:
        for month in progress.months if selection is None else months_with(selection, progress.months):
            page = store.get(page_cell(addresses, month))
            times |= {} if page is None else read_page(page)
        since = progress.until
    for event in _events(name, since):
        for key in _keys(definition, event.partition_key):
            text = str(key)
            times[text] = max(event.timestamp, times.get(text, event.timestamp))
    return {text: at for text, at in times.items() if _selected(text, addresses.definition, selection)}


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
    if Addresses(keys.definition).family != addresses.family:
        raise InvalidDefinitionError(
            f"asset {name!r} has partitions {addresses.definition!r}; given a selection of {keys.definition!r}"
        )
    return keys


def _events(name: str, since: datetime | None) -> Iterator[AssetEventResult]:
    """The events of an asset from an instant on, oldest first; some of them twice."""
    most = _AT_ONCE
    while True:
        accessor = InletEventsAccessor(asset_name=name).limit(most)
        events = list(accessor if since is None else accessor.after(since.isoformat()))
        yield from events
        if len(events) < most:
            return
        if events[-1].timestamp == since:  # so many at one instant
            most *= 2
        since = events[-1].timestamp


def _keys(definition: PartitionDefinition | KeyFormat, text: str | None) -> Iterable[Key]:
    """The keys an event is about: none, if its text is none of the definition; upkeep says so."""
    try:
        return () if text is None else keys_of(definition, text)
    except InvalidKeyError:
        return ()


def _selected(text: str, definition: PartitionDefinition, selection: Selection | None) -> bool:
    return any(selection is None or key in selection for key in _keys(definition, text))
