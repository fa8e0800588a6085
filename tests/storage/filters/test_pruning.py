"""What a filter means: held against a brute-force reading of it, for folders and for pyarrow."""

from __future__ import annotations

import operator
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import FilterError, LayoutError
from airflow_partitions.core.keys import Interval
from airflow_partitions.storage import Column, Filter, Layout, field
from airflow_partitions.storage.filters.filter import And, Condition, Or
from airflow_partitions.storage.filters.pruning import prune
from airflow_partitions.storage.layout.column import TYPES
from airflow_partitions.storage.metadata.arrow_types import arrow_type

AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
SEASONS = PartitionBySequence([9, 10, 1980, 1985, 1990], name="season")


def times(schedule: Any, zone: str = "America/New_York", **bounds: str) -> PartitionByInterval:
    return PartitionByInterval(schedule, timezone=zone, name="time", **bounds)


def layout(*dimensions: Any, **columns: str | Column) -> Layout:
    by_name = {name: c if isinstance(c, Column) else Column(c) for name, c in columns.items()}
    return Layout(dimensions[0] if len(dimensions) == 1 else PartitionByProduct(list(dimensions)), by_name or None)


START, END = "2013-10-25", "2013-11-10"  # a clock is set back on 2013-11-03
HOURS = times("@hourly", start=START, end=END)
LAYOUTS = {
    "text": layout(times("@daily", start="2013-01-01", end="2014-01-01")),
    "date": layout(times("@daily", start="2013-01-01", end="2014-01-01"), day=Column("%Y-%m-%d", "date")),
    "foreign": layout(times("@daily", start="2012-12-20", end="2013-03-01"), year="%Y", month="%m", day="%d"),
    "numbers": layout(
        times("@daily", start="2013-01-01", end="2014-01-01"), d=Column("%d", "int"), ym=Column("%Y%m", "int")
    ),
    "short": layout(AIRPORTS, times("@daily", start="2013-01-01", end="2013-02-01"), dt="%Y%m%d", a="{airport}"),
    "hours": layout(HOURS, hour="%Y-%m-%dT%H:%M%z"),
    "open hours": layout(times("@hourly", start=START), hour="%Y-%m-%dT%H:%M%z"),
    "odd hours": layout(times("@hourly"), hour="%H:%M on %d.%m.%Y, %z"),
    "utc hours": layout(times("@hourly", "UTC", start=START, end=END), day="%F", hour=Column("%H", "bigint")),
    "weeks": layout(times("@weekly", start="2012-01-01", end="2014-01-01"), week="%G-W%V"),
    "backwards": layout(times("@daily", start="2013-01-01", end="2013-03-01"), day="%d.%m.%Y"),
    "seasons": layout(SEASONS, AIRPORTS, season=Column("{season}", "int"), airport="{airport}"),
}
OPERATORS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
             ">=": operator.ge}  # fmt: skip


def keys(of: Layout) -> list[Any]:
    """About a hundred keys of it."""
    if (time := of.definition.time) is None:
        return list(of.definition.keys())
    low = time.start or datetime(2013, 10, 25, tzinfo=UTC)
    some = list(of.definition.keys(low, time.end or low + timedelta(days=16)))
    return some[:: len(some) // 100 or 1]


def holds(where: Filter, of: Layout, key: Any) -> bool:
    """The filter, read word for word."""
    if isinstance(where, And | Or):
        return (all if isinstance(where, And) else any)(holds(part, of, key) for part in where.parts)
    assert isinstance(where, Condition)
    part = of.definition.dimensions_of(key)[where.field]
    values = where.value if isinstance(where.value, tuple) else (where.value,)
    if isinstance(part, Interval):
        time = of.definition.time
        assert time is not None
        own, others = part.time_range[0], [time.moment(str(value)) for value in values]
    else:
        own, others = part.value, [type(part.value)(value) for value in values]
    if where.op in ("in", "not in"):
        return (own in others) == (where.op == "in")
    return bool(OPERATORS[where.op](own, others[0]))


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Filter]:
    name = draw(st.sampled_from(sorted(LAYOUTS)))
    of, some = LAYOUTS[name], KEYS[name]

    def condition() -> Filter:
        dimension = draw(st.sampled_from(list(of.definition.dimensions)))
        one = field(dimension)
        parts = [of.definition.dimensions_of(draw(st.sampled_from(some)))[dimension] for _ in range(2)]
        texts = [str(part) for part in parts]
        if draw(st.booleans()):
            return draw(st.sampled_from([one == texts[0], one != texts[0], one.isin(texts), ~one.isin(texts)]))
        if isinstance(parts[0], Interval):
            moved = draw(st.sampled_from([timedelta(0), timedelta(minutes=7), timedelta(hours=-3), timedelta(days=90)]))
            texts = [(part.start.astimezone(UTC) + moved).isoformat() for part in parts]  # type: ignore[union-attr]
        low, high = texts
        return draw(
            st.sampled_from(
                [one < low, one <= low, one > low, one >= low, one.between(low, high), ~one.between(low, high)]
            )
        )

    where = condition()
    for _ in range(draw(st.integers(0, 3))):
        where = draw(st.sampled_from([where & condition(), where | condition(), ~where]))
    return name, where


KEYS = {name: keys(of) for name, of in LAYOUTS.items()}
TABLES = {
    name: pa.table(
        {
            column: pa.array(
                [TYPES[of.columns[column].type](of.values_of(key)[column]) for key in KEYS[name]],
                arrow_type(of.columns[column].type),
            )
            for column in of.columns
        }
    )
    for name, of in LAYOUTS.items()
}


@settings(deadline=None, max_examples=300)
@given(cases())
def test_c3_folders_and_arrow_are_chosen_as_the_filter_reads(case: tuple[str, Filter]) -> None:
    name, where = case
    of, some = LAYOUTS[name], KEYS[name]
    pruned = prune(where, of, {})
    expected = [holds(where, of, key) for key in some]
    assert pruned.prunes
    assert not pruned.non_pruning
    assert pruned.residual is None
    texts = [of.values_of(key) for key in some]
    assert [pruned.accepts(each) for each in texts] == expected
    for column in of.columns:  # on the way down nothing is lost
        for each, ok in zip(texts, expected, strict=True):
            assert pruned.accepts({column: each[column]}) >= ok
    try:
        expression = pruned.to_arrow()
    except FilterError:
        assert name in ("open hours", "odd hours")
        return
    table = TABLES[name].append_column("n", [list(range(len(some)))])
    assert table.filter(expression)["n"].to_pylist() == [n for n, ok in enumerate(expected) if ok]


@pytest.mark.parametrize(
    ("name", "text", "lowered"),
    [
        ("text", "time >= '2013-02-01' and time < '2013-03-01'", "time >= '2013-02-01' and time < '2013-03-01'"),
        ("date", "time < '2013-03-01T13:00-05:00'", "day < '2013-03-02'"),
        ("numbers", "time >= '2013-02-08'", "ym > '201302' or (ym == '201302' and d >= '08')"),
        ("seasons", "season >= 100 and season < 1990 and airport != 'JFK'",
         "season in ('1980', '1985', '1990') and season in ('9', '10', '1980', '1985') and airport in ('EWR', 'LGA')"),
        ("backwards", "time < '2013-01-03' and time >= '2013-01-02'", "day in ('02.01.2013',)"),
        ("hours", "time >= '2013-11-03T01:00-04:00' and time < '2013-11-03T02:00-05:00'",
         "hour in ('2013-11-03T01:00-0400', '2013-11-03T01:00-0500')"),
    ],
)  # fmt: skip
def test_only_comparisons_of_bare_columns_are_left(name: str, text: str, lowered: str) -> None:
    assert str(prune(Filter.parse(text), LAYOUTS[name], {}).lowered) == lowered


def test_parts_that_prune_nothing_are_named() -> None:
    of, schema = LAYOUTS["short"], {"delay": "double", "late": "boolean"}
    pruned = prune(Filter.parse("airport == 'EWR' and delay > 3 and (late == True or time < '2013-01-05')"), of, schema)
    assert pruned.prunes
    assert list(map(str, pruned.non_pruning)) == ["delay > 3", "late == True or dt < '20130105'"]
    assert str(pruned.residual) == "delay > 3 and (late == True or dt < '20130105')"
    assert not prune(Filter.parse("airport == 'EWR' or delay > 3"), of, schema).prunes
    assert not prune(field("delay") > 3, of, schema).prunes
    partly = prune(Filter.parse("(airport == 'EWR' and delay > 3) or airport == 'JFK'"), of, schema)
    assert partly.prunes
    assert partly.accepts({"a": "EWR"})
    assert not partly.accepts({"a": "LGA"})


def test_a_range_that_only_folder_names_decide_is_no_expression() -> None:
    pruned = prune(field("time") >= "2013-11-03", LAYOUTS["odd hours"], {"delay": "double"})
    assert pruned.accepts({"hour": "01:00 on 03.11.2013, -0500"})
    assert not pruned.accepts({"hour": "23:00 on 02.11.2013, -0400"})
    with pytest.raises(FilterError, match="expected a range with two bounds"):
        pruned.to_arrow()
    two = prune(field("time").between("2013-11-03", "2013-11-04"), LAYOUTS["odd hours"], {})
    assert str(two.lowered).count("on 03.11.2013") == 25


def test_partition_columns_and_runtime_keys() -> None:
    of = LAYOUTS["foreign"]
    month = prune(field("month").isin(["01", "02"]), of, {})
    assert month.accepts({"year": "2013", "month": "02", "day": "01"})
    assert not month.accepts({"month": "12"})
    with pytest.raises(FilterError, match="month == 1: 1 is no string"):
        prune(field("month") == 1, of, {})
    with pytest.raises(LayoutError, match="'x' is not a int"):
        prune(field("ym") == 201301, LAYOUTS["numbers"], {}).accepts({"ym": "x"})
    customers = Layout(PartitionAtRuntime("customer"))
    assert prune(field("customer").isin(["a", 7]), customers, {}).accepts({"customer": "int:7"})
    assert not prune(field("customer") == "7", customers, {}).accepts({"customer": "int:7"})
    assert prune(field("customer") < "b", customers, {}).accepts({"customer": "a"})
    with pytest.raises(FilterError, match="'a' is no bigint"):
        prune(field("customer") < "a", customers, {}).accepts({"customer": "int:7"})


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("short", "airprt == 'EWR'", "no field 'airprt'; nearest: airport"),
        ("short", "airport == 'EWX'", "'EWX' is not one of the 3 values of 'airport'; nearest: EWR"),
        ("short", "time == '2013-01-01T05:00-05:00'", "is not a partition"),
        ("short", "time < 'yesterday'", "time='yesterday' is not a time"),
        ("short", "time < '2013-01-01T05:00'", "has no UTC offset"),
        ("seasons", "season < 'x'", "'x' is no bigint"),
        ("seasons", "season == True", "is a bool"),
        ("date", "day < 'x'", "'x' is no date"),
        ("short", "delay > 'x'", "'x' is no double"),
        ("short", "at > '2013-01-01'", "'2013-01-01' is no timestamp .*with a UTC offset"),
    ],
)  # fmt: skip
def test_bad_conditions_are_refused_by_name(name: str, text: str, words: str) -> None:
    with pytest.raises(FilterError, match=words):
        prune(Filter.parse(text), LAYOUTS[name], {"delay": "double", "at": "timestamp"})
