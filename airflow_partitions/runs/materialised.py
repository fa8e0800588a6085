"""The ledger of an asset, as its readers in tasks see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset, get_current_context
from airflow.sdk.execution_time.context import AssetStateStoreAccessor, InletEventsAccessor

from airflow_partitions.dependencies import Selection
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.history.ledger_keys import Addresses, keys_of
from airflow_partitions.history.ledger_pages import MARK, Mark, cell, months_with, read_page
from airflow_partitions.timetables.asset_extra import published

if TYPE_CHECKING:
    from airflow.sdk.definitions.asset import AssetNameRef
    from airflow.sdk.execution_time.comms import AssetEventResult

    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.dependencies import Foreign
    from airflow_partitions.keys import Key
    from airflow_partitions.timetables.upstreams import Upstreams

# Airflow looks up the runs that each event started one by one, and a task waits for an answer for five seconds.
_AT_ONCE = 100


def materialised(
    asset: Asset | AssetNameRef | str, keys: Selection | Iterable[Any] | None = None
) -> dict[str, datetime]:
    """When partitions of *asset* were last materialised, by the text of their keys; for tasks.

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
    """
    timetable: Any = get_current_context()["dag"].timetable
    name = asset if isinstance(asset, str) else asset.name
    extras = [getattr(asset, "extra", {}), _known(name).extra]
    store = AssetStateStoreAccessor(name=name)
    noted: Any = store.get(MARK)
    mark = None if noted is None else Mark.from_json(noted)
    definition = _definition(name, timetable, extras, mark, keys)
    addresses = Addresses.by(definition)
    selection = _selection(name, addresses, keys)
    found: dict[str, datetime] = {}
    if mark is not None and mark.addresses.family == addresses.family:
        for month in mark.months if selection is None else months_with(selection, mark.months):
            page: Any = store.get(cell(addresses, month), {})
            found.update(read_page(page))
        since = mark.until
    else:
        since = None
    for event in _events(name, since):
        for key in _keys(definition, event.partition_key):
            text = str(key)
            found[text] = max(event.timestamp, found.get(text, event.timestamp))
    return {text: at for text, at in found.items() if _asked_for(text, addresses.definition, selection)}


def _known(name: str) -> Asset:
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
    name: str, timetable: Any, extras: Iterable[dict[str, Any]], mark: Mark | None, keys: Any
) -> PartitionDefinition | Foreign:
    """What the keys of the asset's events mean; the Dag's own word goes first."""
    upstreams: Upstreams | None = getattr(timetable, "upstreams", None)
    if upstreams is not None and name in upstreams.leaves and upstreams.said(name) is not None:
        member = upstreams.member(name)
        return member.foreign or member.definition
    for extra in extras:
        if made := published(extra):
            return made.definition
    if mark is not None:
        return mark.definition
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
        asked = InletEventsAccessor(asset_name=name).limit(most)
        events = list(asked if since is None else asked.after(since.isoformat()))
        yield from events
        if len(events) < most:
            return
        if events[-1].timestamp == since:  # so many at one instant
            most *= 2
        since = events[-1].timestamp


def _keys(definition: PartitionDefinition | Foreign, text: str | None) -> Iterable[Key]:
    """The keys an event is about: none, if its text is none of the definition; upkeep says so."""
    try:
        return () if text is None else keys_of(definition, text)
    except InvalidKeyError:
        return ()


def _asked_for(text: str, definition: PartitionDefinition, selection: Selection | None) -> bool:
    return any(selection is None or key in selection for key in _keys(definition, text))
