"""The combinations of segments that exist in a product, each at its times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import NamedTuple, TypeAlias

import attrs

from airflow_partitions.core.calendars.instants import TimeRange

#: Positions of segments, one for each dimension that is not time.
Combination: TypeAlias = tuple[int, ...]
#: Combinations: of the last dimension a bit for each segment; before it, by position, what there is of the others.
Tree: TypeAlias = int | Mapping[int, "Tree"]
#: Combinations with any of the chosen segments of each dimension, which are a bit for each by position.
Rectangle: TypeAlias = tuple[int, ...]


class Phase(NamedTuple):
    """A time in which the same combinations exist.

    :ivar low: instant from which on intervals begin in it.
    :ivar high: instant before which they do.
    :ivar size: number of the combinations.
    """

    low: int
    high: int
    tree: Tree
    size: int


@attrs.frozen(slots=False)
class Combinations:
    """The combinations of segments that exist, each at its times; never a list of all that could.

    :ivar sizes: numbers of the segments of the dimensions that are not time.
    :ivar by_times: the combinations that exist at the same times, in the order of these; the same for the same set.
    """

    sizes: tuple[int, ...]
    by_times: tuple[tuple[tuple[TimeRange, ...], Tree], ...]

    @classmethod
    def of(cls, sizes: Sequence[int], there: Iterable[tuple[TimeRange, Combination]]) -> Combinations:
        """The combinations that are *there*, each in a range of time in which intervals begin."""
        times: dict[Combination, set[TimeRange]] = {}
        for time_range, combination in there:
            times.setdefault(combination, set()).add(time_range)
        together: dict[tuple[TimeRange, ...], list[Combination]] = {}
        joined: dict[frozenset[TimeRange], tuple[TimeRange, ...]] = {}
        for combination, ranges in times.items():
            key = frozenset(ranges)
            if key not in joined:
                joined[key] = tuple(_joined(ranges))
            together.setdefault(joined[key], []).append(combination)
        return cls(tuple(sizes), tuple((some, tree_of(together[some])) for some in sorted(together) if some))

    def is_everything(self, time_range: TimeRange) -> bool:
        """Whether every combination exists in all of a range of time."""
        return len(self.by_times) == 1 and self.by_times[0][0] == (time_range,) and self.size == prod(self.sizes)

    @cached_property
    def size(self) -> int:
        """Number of the combinations that exist at any time."""
        return sum(size_of(tree) for _, tree in self.by_times)

    @cached_property
    def ever(self) -> Tree:
        """The combinations that exist at any time."""
        tree: Tree | None = None
        for _, some in self.by_times:
            tree = some if tree is None else united(tree, some)
        return {} if tree is None else tree

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The times in which the same combinations exist, in order."""
        begins: dict[int, list[Tree]] = {}
        ends: dict[int, list[Tree]] = {}
        for times, tree in self.by_times:
            for low, high in times:
                begins.setdefault(low, []).append(tree)
                ends.setdefault(high, []).append(tree)
        phases: list[Phase] = []
        there: Tree | None = None
        for low, high in pairwise(sorted({*begins, *ends})):
            for tree in ends.get(low, ()):
                there = None if there is None else less(there, tree)
            for tree in begins.get(low, ()):
                there = tree if there is None else united(there, tree)
            if there:
                phases.append(Phase(low, high, there, size_of(there)))
        return tuple(phases)

    def phases_within(self, low: int, high: int) -> Iterator[Phase]:
        """The phases in a range of time, the first and the last one cut to it."""
        for phase in self.phases[bisect_right(self._highs, low) :]:
            if phase.low >= high:
                return
            yield phase._replace(low=max(low, phase.low), high=min(high, phase.high))

    def phase(self, at: int) -> Phase | None:
        """The phase that holds an instant."""
        i = bisect_right(self._highs, at)
        return self.phases[i] if i < len(self.phases) and self.phases[i].low <= at else None

    def has(self, at: int, combination: Combination) -> bool:
        """Whether a *combination* exists in the interval that begins at an instant."""
        phase = self.phase(at)
        return phase is not None and holds(phase.tree, combination)

    def times_of(self, combination: Combination) -> tuple[TimeRange, ...]:
        """The times at which a *combination* exists; none if never."""
        return next((times for times, tree in self.by_times if holds(tree, combination)), ())

    @cached_property
    def _highs(self) -> list[int]:
        return [phase.high for phase in self.phases]


def tree_of(combinations: Iterable[Combination]) -> Tree:
    """The tree of some *combinations*."""
    rests: dict[int, list[Combination]] = {}
    bits = 0
    for first, *rest in combinations:
        if rest:
            rests.setdefault(first, []).append(tuple(rest))
        else:
            bits |= 1 << first
    return {first: tree_of(rests[first]) for first in sorted(rests)} if rests else bits


def size_of(tree: Tree) -> int:
    """Number of the combinations of a *tree*."""
    return tree.bit_count() if isinstance(tree, int) else sum(map(size_of, tree.values()))


def holds(tree: Tree, combination: Combination) -> bool:
    """Whether a *combination* is in a *tree*."""
    for position in combination:
        if isinstance(tree, int):
            return bool(tree >> position & 1)
        if position not in tree:
            return False
        tree = tree[position]
    return False


def combinations_of(tree: Tree, *, backward: bool = False) -> Iterator[Combination]:
    """The combinations of a *tree*, in order."""
    if isinstance(tree, int):
        for position in positions_of(tree, backward=backward):
            yield (position,)
        return
    for position in sorted(tree, reverse=backward):
        for rest in combinations_of(tree[position], backward=backward):
            yield (position, *rest)


def beside(tree: Tree, combination: Combination, *, backward: bool = False) -> Combination | None:
    """The combination of a *tree* next to one, which need not be in it."""
    first, *rest = combination
    if isinstance(tree, int):
        bits = tree & ((1 << first) - 1) if backward else tree >> (first + 1) << (first + 1)
        return next(((position,) for position in positions_of(bits, backward=backward)), None)
    if first in tree and (other := beside(tree[first], tuple(rest), backward=backward)) is not None:
        return (first, *other)
    some = [position for position in tree if (position < first if backward else position > first)]
    if not some:
        return None
    position = max(some) if backward else min(some)
    return (position, *next(combinations_of(tree[position], backward=backward)))


def positions_of(bits: int, *, backward: bool = False) -> Iterator[int]:
    """The positions of *bits*, in order."""
    while bits:
        position = bits.bit_length() - 1 if backward else (bits & -bits).bit_length() - 1
        yield position
        bits ^= 1 << position


def united(one: Tree, other: Tree) -> Tree:
    """The combinations of both trees."""
    if isinstance(one, int) or isinstance(other, int):
        return (one if isinstance(one, int) else 0) | (other if isinstance(other, int) else 0)
    tree = dict(one)
    for position, rest in other.items():
        tree[position] = united(tree[position], rest) if position in tree else rest
    return tree


def less(one: Tree, other: Tree) -> Tree | None:
    """The combinations of *one* tree that the *other* has not; ``None`` for none."""
    if isinstance(one, int) or isinstance(other, int):
        left = (one if isinstance(one, int) else 0) & ~(other if isinstance(other, int) else 0)
        return left or None
    tree = dict(one)
    for position, rest in other.items():
        if position in tree:
            remains = less(tree.pop(position), rest)
            if remains is not None:
                tree[position] = remains
    return tree or None


def rectangles_of(tree: Tree, chosen: Sequence[int | None]) -> tuple[Rectangle, ...]:
    """The combinations of a *tree* that have *chosen* segments, as rectangles that share none, in order.

    :param chosen: bits for each dimension; ``None`` for all of its segments.
    """
    first, *rest = chosen
    if isinstance(tree, int):
        bits = tree if first is None else tree & first
        return ((bits,),) if bits else ()
    together: dict[tuple[Rectangle, ...], int] = {}
    few = first is not None and first.bit_count() < len(tree)
    for position in positions_of(first) if few and first is not None else tree:
        if position in tree and (first is None or first >> position & 1):
            rectangles = rectangles_of(tree[position], rest)
            if rectangles:
                together[rectangles] = together.get(rectangles, 0) | 1 << position
    in_order = sorted(together.items(), key=lambda item: item[1] & -item[1])
    return tuple((bits, *rectangle) for rectangles, bits in in_order for rectangle in rectangles)


def _joined(ranges: Iterable[TimeRange]) -> Iterator[TimeRange]:
    """*ranges* that touch as one, in order; those that are empty are left out."""
    current: TimeRange | None = None
    for low, high in sorted(ranges):
        if low >= high:
            continue
        if current is not None and low <= current[1]:
            current = current[0], max(high, current[1])
        else:
            if current is not None:
                yield current
            current = low, high
    if current is not None:
        yield current
