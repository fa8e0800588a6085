"""Pages of states, as a screen asks for them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import TimeRange, from_iso, instant
from airflow_partitions.core.calendars.steps import ahead, back
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionByProduct
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import SelectionError
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.operate.state import WAITING, State
from airflow_partitions.operate.states.asset_states import AssetStates, Shows
from airflow_partitions.operate.states.stretch import Stretch
from airflow_partitions.operate.states.tally import Tally, by_state, provisional
from airflow_partitions.operate.states.waiting import span_of

# A page ends after so many partitions that were read of ledgers, upstream too, though they may be few stretches.
_MOST_READ = 3_000
_FIRST_WINDOW = 500


@attrs.frozen
class StatePage:
    """Some stretches of a selection, and where the next page begins.

    :ivar stretches: in the definition's order, or the newest first. A page may end in the middle of one.
    :ivar cursor: for the next page; ``None`` after the last one.
    :ivar now: as of when it is; aware.
    """

    asset: str
    stretches: tuple[Stretch, ...]
    cursor: str | None
    now: datetime

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "asset": self.asset,
            "now": self.now.isoformat(timespec="seconds"),
            "stretches": [stretch.to_json() for stretch in self.stretches],
            "cursor": self.cursor,
        }


@attrs.frozen
class StateCounts:
    """Numbers of partitions by state.

    :ivar counts: those that are not 0.
    :ivar provisional: number of those made before their interval was over, whatever their state.
    """

    asset: str
    counts: dict[State, int]
    provisional: int
    now: datetime

    @property
    def total(self) -> int:
        """Number of all."""
        return sum(self.counts.values())

    @property
    def complete(self) -> bool:
        """Whether all were materialized, and none is stale, is being made again, or has failed since."""
        return set(self.counts) <= {State.MATERIALIZED}

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "asset": self.asset,
            "now": self.now.isoformat(timespec="seconds"),
            "total": self.total,
            "counts": {str(state): number for state, number in self.counts.items()},
            "provisional": self.provisional,
        }


def states_of(
    asset: str | PartitionedAsset,
    selection: Selection | None = None,
    *,
    states: Collection[State] | None = None,
    newest_first: bool = True,
    limit: int | None = 100,
    cursor: str | None = None,
    shows: Shows | None = None,
    now: datetime | None = None,
) -> StatePage:
    """The states of an asset's partitions, in stretches.

    Intervals that are not over are left out, as long as nothing of them is there. An open calendar begins with the
    first partition of which anything is known, unless the *selection* says where.

    :param selection: some of its partitions; by default all.
    :param states: only these.
    :param newest_first: the last partitions of the definition's order first.
    :param limit: of stretches; a page has more only where one interval has, and ends sooner after very many partitions.
        ``None`` for all at once.
    :param cursor: of the page before, asked for with the same arguments.
    :param shows: whether an upstream asset may be told of, to say what waits for it; by default all may.
    :param now: aware; the default is the moment.
    :raises UnknownAssetError: if there is no such asset.
    :raises SelectionError: for a cursor that no page has.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    of = AssetStates(partitioned_asset(asset) if isinstance(asset, str) else asset, now, shows)
    partitions = of.everything() if selection is None else of.existing(selection)
    chosen = _over_time if of.definition.time is not None else _by_number
    stretches, following = chosen(of, partitions, states, newest_first=newest_first, limit=limit, cursor=cursor)
    return StatePage(of.asset.name, tuple(stretches), following, of.now)


def counts(
    asset: str | PartitionedAsset, selection: Selection | None = None, *, now: datetime | None = None
) -> StateCounts:
    """Numbers of an asset's partitions by state; arguments and errors as for :func:`states_of`."""
    of = AssetStates(partitioned_asset(asset) if isinstance(asset, str) else asset, now)
    return counts_of(of, of.everything() if selection is None else of.existing(selection))


def counts_of(of: AssetStates, partitions: Selection) -> StateCounts:
    """Numbers of *partitions* that there are by now, by state."""
    numbers = Tally.of(of, partitions).counts
    return StateCounts(of.asset.name, by_state(numbers), provisional(numbers), of.now)


def _by_number(
    of: AssetStates,
    partitions: Selection,
    states: Collection[State] | None,
    *,
    newest_first: bool,
    limit: int | None,
    cursor: str | None,
) -> tuple[list[Stretch], str | None]:
    """A page of partitions without time: the cursor is the number of the stretch."""
    stretches = [one for one in of.stretches(partitions) if states is None or one.state in states]
    if newest_first:
        stretches.reverse()
    first = 0 if cursor is None else int(cursor) if cursor.isdecimal() else -1
    if not 0 <= first <= len(stretches):
        raise SelectionError(f"cursor={cursor!r} is of no page; expected that of the page before")
    last = len(stretches) if limit is None else first + limit
    return stretches[first:last], str(last) if last < len(stretches) else None


def _over_time(
    of: AssetStates,
    partitions: Selection,
    states: Collection[State] | None,
    *,
    newest_first: bool,
    limit: int | None,
    cursor: str | None,
) -> tuple[list[Stretch], str | None]:
    """A page of partitions with time: the cursor is the instant where it ends."""
    low, high = span_of(partitions) or (FIRST, LAST)
    if cursor is not None:
        at = _instant(cursor)
        low, high = (low, min(high, at)) if newest_first else (max(low, at), high)
    size = max(1, _FIRST_WINDOW // _combinations(of))
    stretches: list[Stretch] = []
    end, most = high if newest_first else low, of.size + _MOST_READ
    while low < high and (limit is None or (len(stretches) < limit and of.size < most)):
        window = (low, high) if limit is None else _window(of, low, high, size, newest_first=newest_first)
        part = partitions & Selection(of.definition, (Box(window),))
        here = [one for one in of.stretches(part) if states is None or one.state in states]
        stretches = _joined(here, stretches) if newest_first else _joined(stretches, here)
        size *= 2
        low, high = (low, window[0]) if newest_first else (window[1], high)
        end = high if newest_first else low
    if limit is not None and len(stretches) > limit:
        end = _cut(stretches, limit, newest_first=newest_first)
        stretches = list(filter(None, (_part(one, end, before=not newest_first) for one in stretches)))
        more = True
    else:
        more = low < high
    if newest_first:
        stretches.reverse()
    time = of.definition.time
    return stretches, time.clock.datetime(end).isoformat() if more and time is not None else None


def _instant(cursor: str) -> int:
    try:
        return instant(from_iso(cursor))
    except (ValueError, TypeError):
        raise SelectionError(f"cursor={cursor!r} is of no page; expected that of the page before") from None


def _combinations(of: AssetStates) -> int:
    return max(1, of.definition.combinations()) if isinstance(of.definition, PartitionByProduct) else 1


def _window(of: AssetStates, low: int, high: int, size: int, *, newest_first: bool) -> TimeRange:
    """The *size* newest, or oldest, intervals of a range."""
    time = of.definition.time
    if time is None:
        return low, high
    if newest_first:
        return max(low, back(time.calendar, high, size)), high
    return low, min(high, ahead(time.calendar, low, size))


def _joined(before: list[Stretch], after: list[Stretch]) -> list[Stretch]:
    """Stretches of two windows side by side; what goes on in the second is one stretch."""
    if not before or not after:
        return [*before, *after]
    seam = min(_range(one)[0] for one in after)
    going_on = {(one.status, str(one.box.segments)): one for one in before if _range(one)[1] == seam}
    joined: list[Stretch] = list(before)
    rest: list[Stretch] = []
    for one in after:
        other = going_on.get((one.status, str(one.box.segments)))
        if other is None or _range(one)[0] != seam or one.status == WAITING:
            rest.append(one)
            continue
        box = Box((_range(other)[0], _range(one)[1]), one.box.segments)
        joined[joined.index(other)] = attrs.evolve(one, box=box, count=other.count + one.count)
    return [*joined, *rest]


def _cut(stretches: list[Stretch], limit: int, *, newest_first: bool) -> int:
    """The instant at which a page of about *limit* stretches ends."""
    ranges = [_range(one) for one in stretches]
    if newest_first:
        ends = sorted((end for _, end in ranges), reverse=True)
        at = ends[limit]
        return at if at < ends[0] else max(start for start, end in ranges if end == ends[0])
    starts = sorted(start for start, _ in ranges)
    at = starts[limit]
    return at if at > starts[0] else min(end for start, end in ranges if start == starts[0])


def _part(stretch: Stretch, at: int, *, before: bool) -> Stretch | None:
    """What of a *stretch* lies before an instant, or from it on."""
    low, high = _range(stretch)
    low, high = (low, min(high, at)) if before else (max(low, at), high)
    if low >= high:
        return None
    if (low, high) == _range(stretch):
        return stretch
    box = Box((low, high), stretch.box.segments)
    return attrs.evolve(stretch, box=box, count=len(Selection(stretch.definition, (box,))))


def _range(stretch: Stretch) -> TimeRange:
    return stretch.box.time_range or (FIRST, LAST)
