"""A rule answers the same in both directions, and as a walk over all pairs of intervals says."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions import Dependency, Interval, Lookback, PartitionByInterval, Window
from airflow_partitions.dependencies import Rule
from tests.property.strategies import moments, time_definitions

rules = st.one_of(
    st.builds(Lookback, st.integers(1, 4)),
    st.builds(Window, st.timedeltas(timedelta(0), timedelta(days=2)), st.timedeltas(timedelta(0), timedelta(days=2))),
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[PartitionByInterval, PartitionByInterval]:
    around = draw(moments("America/New_York"))
    return draw(time_definitions("time", around)), draw(time_definitions("time", around))


def belong(rule: Rule, down: Interval, up: Interval, ups: list[Interval]) -> bool:
    """Whether *down* needs *up*, from the words of the rules alone."""
    if isinstance(rule, Window):
        return up.end > down.start - rule.before and up.start < down.end + rule.after
    overlapping = [i for i, other in enumerate(ups) if other.overlaps(down)]
    # The interval that holds the start of the downstream one may lie before the first or after the last that exists.
    first = overlapping[0] if overlapping else sum(other.bounds[1] <= down.bounds[0] for other in ups)
    last = overlapping[-1] if overlapping else first - 1
    return first - rule.n <= ups.index(up) <= last  # type: ignore[attr-defined]


@given(pairs(), rules, st.data())
def test_a20_a_rule_is_its_own_inverse(
    pair: tuple[PartitionByInterval, PartitionByInterval], rule: Rule, data: st.DataObject
) -> None:
    downstream, upstream = pair
    dependency = Dependency(downstream, upstream, rule)
    downs, ups = list(downstream.keys()), list(upstream.keys())
    if not downs or not ups:
        return
    down, up = data.draw(st.sampled_from(downs)), data.draw(st.sampled_from(ups))
    assert (up in dependency.upstream(down)) == (down in dependency.downstream(up))
    needed = dependency.upstream(down)
    if needed:
        held = [belong(rule, down, other, ups) for other in ups]
        assert [other in needed for other in ups] == held
