"""Views of an asset's partitions, and what is seen in them: axes, and the rows of a page."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from functools import cached_property

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.steps import back
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionBySequence, PartitionDefinition
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box, in_order
from airflow_partitions.core.errors import InvalidKeyError, SelectionError
from airflow_partitions.core.keys import Segment
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.axis import Axis, SegmentAxis, Single, Slot, TimeAxis, others

#: So many intervals are shown of a calendar without a start of which nothing is known.
_OF_NOTHING = 30


@attrs.frozen(kw_only=True)
class View:
    """What of an asset is to be seen.

    :ivar time_range: instants; an end that is ``None`` is that of what there is by now.
    :ivar selection: only these.
    :ivar across: name of the dimension whose keys are the columns; ``None`` for none.
    :ivar down: name of the dimension whose keys are the rows, not time; ``None`` for none.
    :ivar columns: the most of them.
    :ivar beginnings: the moments at which columns of time begin, each with the next interval; by default it depends on
        the range.
    :ivar search: a part of the texts of rows, in capitals or not.
    :ivar row_limit: the most rows of a page.
    :ivar row_cursor: the last row of the page before.
    """

    time_range: tuple[int | None, int | None] = (None, None)
    selection: Selection | None = None
    across: str | None
    down: str | None
    columns: int
    beginnings: tuple[int, ...] | None = None
    search: str = ""
    row_limit: int
    row_cursor: str | None = None


@attrs.frozen(slots=False)
class Sight:
    """What is in view of an asset, each worked out once; nothing of it depends on states.

    :ivar of: the asset, as of a moment.
    """

    of: AssetStates
    view: View

    @cached_property
    def extent(self) -> Slot | None:
        """All intervals that there are by now; of an open calendar without any the newest ones."""
        of, time = self.of, self.of.definition.time
        if time is None:
            return None
        ranges = [box.time_range for box in of.everything().boxes if box.time_range is not None]
        if ranges:
            low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
        elif time.start is None and of.closed > FIRST:
            low, high = back(time.calendar, of.closed, _OF_NOTHING), of.closed
        else:
            return None
        text, calendar = time.clock.text, time.calendar
        return Slot(text(low), text(calendar.floor(high - 1) or low), calendar.count(low, high), (low, high))

    @cached_property
    def time_range(self) -> TimeRange | None:
        """From the begin of the first interval in view to the end of the last."""
        time = self.of.definition.time
        if time is None:
            return None
        first, last = (0, 0) if self.extent is None or self.extent.time_range is None else self.extent.time_range
        low, high = self.view.time_range
        low, high = time.overlapping(first if low is None else low, last if high is None else high)
        return low, max(low, time.calendar.after(high - 1) or LAST)

    @cached_property
    def partitions(self) -> Selection:
        """Those in view that there are by now."""
        of, definition = self.of, self.of.definition
        chosen = self.view.selection
        if self.time_range is None:
            partitions = of.everything() if chosen is None else chosen
        else:
            low, high = self.time_range
            partitions = Selection(definition, (Box((low, high)),) if low < high else ())
            partitions = of.existing(partitions if chosen is None else partitions & chosen)
        if not self.view.search or self.view.down is None:
            return partitions
        part = self.view.search.casefold()
        segments = [one for one in self._segments(self.view.down, partitions) if part in one.text.casefold()]
        box = Box(self.time_range, {self.view.down: tuple(segments)})
        return partitions & Selection(definition, (box,) if segments else ())

    @cached_property
    def across(self) -> Axis:
        """The columns."""
        time, name = self.of.definition.time, self.view.across
        if name is None:
            return Single()
        if time is not None and name == time.name:
            time_range, beginnings = self.time_range or (0, 0), self.view.beginnings
            if beginnings is not None:
                return TimeAxis.beginning(time, time_range, beginnings, "")
            return TimeAxis.of(time, time_range, self.view.columns)
        segments = self._segments(name, self.partitions)
        return SegmentAxis.of(self.of.definition, name, segments, self.view.columns)

    @cached_property
    def down(self) -> Axis:
        """The rows."""
        name = self.view.down
        if name is None:
            return Single()
        return SegmentAxis.of(self.of.definition, name, self._segments(name, self.partitions), None)

    def _segments(self, name: str, partitions: Selection) -> tuple[Segment, ...]:
        """The segments of a dimension that *partitions* have, in order."""
        dimension = self.of.definition.dimensions[name]
        chosen = [box.segments.get(name) for box in partitions.boxes]
        if None in chosen:
            return dimension.segments if isinstance(dimension, PartitionBySequence) else ()
        return in_order(dimension, {segment for some in chosen for segment in some or ()})

    @cached_property
    def page(self) -> range:
        """The numbers of the rows of the page."""
        values = [slot.first for slot in self.down.slots()]
        first = 0 if self.view.row_cursor is None else self._row_after(self.view.row_cursor, values)
        return range(first, min(len(values), first + self.view.row_limit))

    def others(self, box: Box) -> int:
        """Number of the combinations of a *box* along the dimensions that run neither across nor down."""
        return others(self.of.definition, box, (self.across, self.down))

    def _row_after(self, cursor: str, values: Sequence[str | None]) -> int:
        """The number of the row after that of a segment, which may be gone meanwhile.

        :raises SelectionError: if it is none.
        """
        if cursor in values:
            return values.index(cursor) + 1
        dimension = self.of.definition.dimensions.get(self.view.down or "")
        if dimension is None or not _is_key(dimension, cursor):
            raise SelectionError(f"row_cursor {cursor!r} is not one of a page; expected that of the page before")
        if isinstance(dimension, PartitionBySequence):
            return 0  # of another selection: all are shown again rather than one left out
        return bisect(values, cursor, key=str)


def _is_key(definition: PartitionDefinition, text: str) -> bool:
    try:
        definition.parse(text)
    except InvalidKeyError:
        return False
    return True
