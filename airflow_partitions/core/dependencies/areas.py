"""Sets of combinations of segments, a bit for each value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import compress, product
from math import prod
from operator import or_
from typing import TypeAlias

from airflow_partitions.core.definitions import PartitionByInterval, PartitionBySequence, PartitionDefinition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Segment

#: Whether a key stays that is, or is not, in the one set and in the other.
Keep: TypeAlias = Callable[[bool, bool], bool]
#: For each dimension of segments the chosen ones, a bit for each by position; ``None`` for all of them.
Area: TypeAlias = tuple[int | None, ...]
#: Areas, each with the side it is on: 0 or 1.
SidedAreas: TypeAlias = frozenset[tuple[int, Area]]


class Positions:
    """The segments of a *dimension* by position."""

    __slots__ = ("_by_text", "_everything", "dimension", "segments")

    def __init__(self, dimension: PartitionDefinition, segments: Sequence[Segment]) -> None:
        self.dimension = dimension
        self.segments = segments
        self._by_text = {segment.text: i for i, segment in enumerate(segments)}
        self._everything = (1 << len(segments)) - 1 if isinstance(dimension, PartitionBySequence) else None

    @property
    def everything(self) -> int:
        """The bits of all segments."""
        if self._everything is None:
            raise InvalidDefinitionError(f"{self.dimension!r} has no list of all keys; name the keys that are meant")
        return self._everything

    def bits(self, segments: Iterable[Segment]) -> int | None:
        """*segments* as bits."""
        return self.shortened(reduce(or_, (1 << self._by_text[segment.text] for segment in segments), 0))

    def shortened(self, bits: int) -> int | None:
        """*bits*, or ``None`` if they are all there can be."""
        return None if bits == self._everything else bits

    def chosen(self, bits: int | None) -> tuple[Segment, ...]:
        """The segments of *bits*, in order."""
        if bits is not None and bits.bit_count() == 1:
            return (self.segments[bits.bit_length() - 1],)
        return tuple(compress(self.segments, map(int, bin(self.everything if bits is None else bits)[:1:-1])))


class ChosenSegments(Mapping[str, tuple[Segment, ...]]):
    """The segments of an *area* by dimension; a dimension left out means all of them."""

    __slots__ = ("area", "positions")

    def __init__(self, positions: tuple[Positions, ...], area: Area) -> None:
        self.positions = positions
        self.area = area

    def combinations(self) -> int:
        """Number of combinations of the chosen segments."""
        pairs = zip(self.positions, self.area, strict=True)
        return prod((positions.everything if bits is None else bits).bit_count() for positions, bits in pairs)

    def __getitem__(self, name: str) -> tuple[Segment, ...]:
        """The chosen segments of a dimension, in its order."""
        for positions, bits in zip(self.positions, self.area, strict=True):
            if positions.dimension.name == name and bits is not None:
                return positions.chosen(bits)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        pairs = zip(self.positions, self.area, strict=True)
        return (positions.dimension.name for positions, bits in pairs if bits is not None)

    def __len__(self) -> int:
        return sum(bits is not None for bits in self.area)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ChosenSegments) and other.positions == self.positions:
            return self.area == other.area
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(dict(self))


class Areas:
    """The areas of a *definition*'s segments.

    :param choices: the segments that will be asked about, by dimension; of a dimension without a list of all its keys,
        others have no position.
    """

    def __init__(self, definition: PartitionDefinition, choices: Iterable[Mapping[str, Iterable[Segment]]]) -> None:
        dimensions = (d for d in definition.dimensions.values() if not isinstance(d, PartitionByInterval))
        self.positions = tuple(
            _positions(d)
            if isinstance(d, PartitionBySequence)
            else Positions(d, sorted({s for choice in choices for s in choice.get(d.name, ())}, key=str))
            for d in dimensions
        )

    def of(self, segments: Mapping[str, Iterable[Segment]]) -> Area:
        """The area of the chosen *segments* by dimension."""
        if isinstance(segments, ChosenSegments) and segments.positions == self.positions:
            return segments.area
        names = ((positions, positions.dimension.name) for positions in self.positions)
        return tuple(positions.bits(segments[name]) if name in segments else None for positions, name in names)

    def segments(self, area: Area) -> ChosenSegments:
        """The segments of an *area* by dimension."""
        return ChosenSegments(self.positions, area)

    def ordered(self, areas: Sequence[Area], depth: int = 0) -> Iterator[tuple[Segment, ...]]:
        """The combinations in *areas* that share none, in order; of the dimensions from *depth* on."""
        if len(areas) == 1:
            yield from product(*map(Positions.chosen, self.positions[depth:], areas[0]))
            return
        positions = self.positions[depth]
        chosen = [(positions.everything if area[0] is None else area[0], area[1:]) for area in areas]
        for i, segment in enumerate(positions.segments):
            if here := [area for bits, area in chosen if bits >> i & 1]:
                for segments in self.ordered(here, depth + 1):
                    yield (segment, *segments)


@lru_cache(maxsize=256)
def _positions(dimension: PartitionBySequence) -> Positions:
    """One object for equal definitions."""
    return Positions(dimension, dimension.segments)


class AreaCombination:
    """What is left of two sets of areas that may share combinations.

    What holds for some areas is worked out once: values of a dimension that are in the same ones go together.

    :param keep: chooses combinations by whether they are on the one and on the other side.
    """

    def __init__(self, positions: tuple[Positions, ...], keep: Keep) -> None:
        self._positions = positions
        self._keep = keep
        self._cache: dict[SidedAreas, tuple[Area, ...]] = {}

    def of(self, there: SidedAreas) -> tuple[Area, ...]:
        """Areas that share no combination, in order; the same for the same set of combinations."""
        if len(there) == 1:
            ((side, area),) = there
            return (area,) if self._keep(side == 0, side == 1) else ()
        areas = self._cache.get(there)
        if areas is None:
            areas = self._cache[there] = self._cut(there)
        return areas

    def _cut(self, there: SidedAreas) -> tuple[Area, ...]:
        """Values of a dimension that have the same areas in the dimensions after it go together."""
        if not there:
            return ()
        depth = len(self._positions) - len(next(iter(there))[1])
        if depth == len(self._positions):
            return ((),) if self._keep((0, ()) in there, (1, ()) in there) else ()
        positions = self._positions[depth]
        together: dict[tuple[Area, ...], int] = {}
        for bits, rest in _blocks(there, positions):
            if areas := self.of(rest):
                together[areas] = together.get(areas, 0) | bits
        in_order = sorted(together.items(), key=lambda item: item[1] & -item[1])
        return tuple((positions.shortened(bits), *area) for areas, bits in in_order for area in areas)


def _blocks(there: SidedAreas, positions: Positions) -> Iterator[tuple[int, SidedAreas]]:
    """Values of a dimension that are in the same areas, and these in the dimensions after it."""
    sets: dict[int | None, set[tuple[int, Area]]] = {}
    for side, area in there:
        sets.setdefault(area[0], set()).add((side, area[1:]))
    everywhere = sets.pop(None, set())
    blocks = [(positions.everything if everywhere else reduce(or_, filter(None, sets), 0), everywhere)]
    singles = {bits: sets.pop(bits) for bits in list(sets) if bits and bits.bit_count() == 1}
    for bits, inside in sets.items():
        cut = [(block & (bits or 0), areas | inside) for block, areas in blocks]
        blocks = [(block & ~(bits or 0), areas) for block, areas in blocks]
        blocks = [(block, areas) for block, areas in (*cut, *blocks) if block]
    alone = reduce(or_, filter(None, singles), 0)
    for block, areas in blocks:
        some = block & alone
        while some:
            bit = some & -some
            yield bit, frozenset(areas | singles[bit])
            some ^= bit
        if areas and block & ~alone:
            yield block & ~alone, frozenset(areas)
