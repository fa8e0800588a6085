from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions import PartitionByProduct, PartitionBySequence, PartitionKey
from airflow_partitions.core.errors import FilterError, InvalidKeyError
from airflow_partitions.storage import Filter, field
from airflow_partitions.storage.filters.arguments import input_filter, output_key
from airflow_partitions.storage.filters.filter import Condition

values = st.one_of(
    st.text(max_size=8), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), st.dates()
)
names = st.text(min_size=1, max_size=6) | st.sampled_from(["airport", "class", "date", "_", "é"])


@st.composite
def conditions(draw: st.DrawFn) -> Filter:
    one, value = field(draw(names)), draw(values)
    forms: list[Filter] = [one == value, one != value, one < value, one >= value, one.isin([value]), one.isin([])]
    return draw(
        st.sampled_from([*forms, one.between(value, None), one.between(None, value), one.between(value, value)])
    )


filters = st.recursive(
    conditions(),
    lambda some: st.one_of(some.map(lambda f: ~f), st.tuples(some, some).map(lambda p: p[0] & p[1] | ~p[0])),
    max_leaves=8,
)


@given(filters)
def test_c5_text_and_json_round_trip(where: Filter) -> None:
    assert Filter.parse(str(where)) == where
    assert Filter.from_json(json.loads(json.dumps(where.to_json()))) == where


@given(filters)
def test_not_not_is_nothing(where: Filter) -> None:
    assert ~~where == where


def test_c3_a_range_is_half_open() -> None:
    season = field("season")
    assert season.between(1980, 1990) == (season >= 1980) & (season < 1990)
    assert str(season.between(None, 1990)) == "season < 1990"
    assert str(season.between(1980, None)) == "season >= 1980"


def test_python_text_and_json_say_the_same() -> None:
    where = (field("airport") == "EWR") & ~field("date").between(date(2013, 2, 1), "2013-03-01")
    assert Filter.parse("airport == 'EWR' and not '2013-02-01' <= date < '2013-03-01'") == where
    bounds = [{"field": "date", "op": ">=", "value": "2013-02-01"}, {"field": "date", "op": "<", "value": "2013-03-01"}]
    form = {"and": [{"field": "airport", "op": "==", "value": "EWR"}, {"not": {"and": bounds}}]}
    assert Filter.from_json(form) == where


def test_values_become_what_json_has() -> None:
    class Location(PartitionKey):
        x: int

    at = field("at")
    assert (at == datetime(2013, 1, 1, tzinfo=UTC)) == (at == "2013-01-01T00:00:00+00:00")
    assert (at == (1, "a")) == (at == "1,a")
    assert (at == Location(x=1)) == (at == "x=1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("airport", "'airport' is no comparison"),
        ("airport ==", "is no filter"),
        ("airport == EWR", "'EWR' is no value"),
        ("len(airport) == 3", "does not compare a field"),
        ("__import__('os').system('true') == 1", "does not compare a field"),
        ("airport is 'EWR'", "expected 'is None'"),
        ("airport < None", "== None or != None for what is null"),
        ("airport in (None,)", "== None or != None for what is null"),
        ("airport in 'EWR'", "several values for 'in'"),
        ("airport == ('EWR',)", "several values for 'in'"),
        ("x < 1e999", "expected a finite number"),
        ("(" * 400, "is no filter"),
        ("not " * 5000 + "x == 1", "is no filter|nested"),
        ("x == '" + "a" * 40_000 + "'", "at most 32768 characters"),
    ],
)
def test_bad_text_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(FilterError, match=words):
        Filter.parse(text)


@pytest.mark.parametrize(
    "form",
    [
        None,
        [],
        {},
        {"and": []},
        {"field": "a", "op": "~", "value": 1},
        {"field": "a", "op": "in", "value": 1},
        {"field": "a", "op": "==", "value": [1]},
        {"field": "a", "op": "==", "value": 1, "or": []},
        {"field": "", "op": "==", "value": 1},
        {"field": "a", "op": "==", "value": {"b": 1}},
        {"field": "a", "op": "<", "value": None},
        {"field": "a", "op": "in", "value": [None]},
    ],
)
def test_bad_json_is_refused(form: Any) -> None:
    with pytest.raises(FilterError):
        Filter.from_json(form)


def test_deep_json_is_refused() -> None:
    form: dict[str, Any] = {"field": "a", "op": "==", "value": 1}
    for _ in range(500):
        form = {"not": form}
    with pytest.raises(FilterError, match="nested more than 100"):
        Filter.from_json(form)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), b"x", object(), {"a": 1}, Decimal("NaN"), np.float64("inf"), np.array([1, 2]), pd.NaT,
     pd.NA, np.datetime64("NaT"), pa.scalar(None, pa.int64()), np.datetime64("2013-01-01T00:00:00.000000001")],
)  # fmt: skip
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(FilterError, match="can't compare with"):
        field("a") == value  # noqa: B015


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(5), 5),
        (np.uint8(5), 5),
        (np.float64(0.5), 0.5),
        (np.float32(0.1), 0.10000000149011612),
        (np.bool_(True), True),
        (np.str_("EWR"), "EWR"),
        (np.datetime64("2013-01-01"), "2013-01-01"),
        (np.datetime64("2013-01-01T00:00:00.000001000"), "2013-01-01T00:00:00.000001"),
        (pd.Timestamp("2013-01-01T00:00Z"), "2013-01-01T00:00:00+00:00"),
        (pd.Series([7]).max(), 7),
        (Decimal("1.50"), "1.50"),
        (pa.scalar(5, pa.int8()), 5),
    ],
)
def test_es_values_as_pandas_numpy_and_arrow_give_them(value: Any, plain: Any) -> None:
    condition = field("n") == value
    assert condition == Condition("n", "==", plain)
    assert type(condition.value) is type(plain)
    assert Filter.parse(str(condition)) == condition


def test_es_several_values_as_pandas_numpy_and_arrow_give_them() -> None:
    for values in (np.array([1, 2]), pd.Series([1, 2]), pd.Index([1, 2]), pl.Series([1, 2]), pa.array([1, 2]), {1, 2}):
        assert field("n").isin(values) == Condition("n", "in", (1, 2))


def test_es_null_is_a_condition_in_every_form() -> None:
    null, value = field("n") == None, field("n") != None  # noqa: E711
    assert ~null == value
    assert (str(null), str(value)) == ("n is None", "n is not None")
    assert Filter.parse("n is None or n != None") == null | value
    assert null.to_json() == {"field": "n", "op": "==", "value": None}
    for where in (null, value):
        assert Filter.parse(str(where)) == where == Filter.from_json(json.loads(json.dumps(where.to_json())))


def test_filters_have_no_truth() -> None:
    with pytest.raises(FilterError, match="instead of 'and', 'or', 'not'"):
        (field("a") == 1) and (field("b") == 2)
    with pytest.raises(FilterError, match="neither true nor false"):
        1 <= field("a") < 2  # noqa: B015
    with pytest.raises(FilterError, match="no bound"):
        field("a").between(None, None)
    with pytest.raises(FilterError, match="several values"):
        field("a").isin("abc")
    with pytest.raises(FilterError, match="is no filter"):
        (field("a") == 1) & "b == 2"  # type: ignore[operator]
    with pytest.raises(FilterError, match="is no field"):
        field("")


RESULTS = PartitionByProduct(
    [PartitionBySequence(["nfl", "nba"], name="league"), PartitionBySequence([1980, 1981, 1990], name="season")]
)
ARGUMENTS = {
    "dataset.results.input.partition.filter.league.value": "nfl",
    "dataset.results.input.partition.filter.season.lower": "1980",
    "dataset.results.input.partition.filter.season.upper": "1990",
    "dataset.totals.output.partition.key.league": "nfl",
    "dataset.totals.output.partition.key.season": "1990",
    "unrelated": "x",
}


def test_c5_arguments_from_outside() -> None:
    where = (field("league") == "nfl") & field("season").between("1980", "1990")
    assert input_filter(ARGUMENTS, "results") == where
    assert input_filter(ARGUMENTS, "totals") is None
    assert output_key(ARGUMENTS, "totals", RESULTS) == RESULTS.key({"league": "nfl", "season": 1990})
    assert output_key(ARGUMENTS, "results", RESULTS) is None


def test_c5_a_whole_filter_or_key_as_one_argument() -> None:
    start = "dataset.results.input.partition.filter"
    where = field("season").isin([1980])
    assert input_filter({start: str(where)}, "results") == where
    assert input_filter({start: where.to_json()}, "results") == where
    assert output_key({"dataset.totals.output.partition.key": "nba|1981"}, "totals", RESULTS) == RESULTS.parse(
        "nba|1981"
    )
    leagues = PartitionBySequence(["nfl"], name="league")
    assert str(output_key({"dataset.t.output.partition.key.league": "nfl"}, "t", leagues)) == "nfl"


def test_c5_bad_arguments() -> None:
    start = "dataset.results.input.partition.filter"
    with pytest.raises(FilterError, match=r"expected .*<field>\.lower"):
        input_filter({f"{start}.season.lowest": "1"}, "results")
    with pytest.raises(FilterError, match="expected one or the other"):
        input_filter({f"{start}.season.value": "1", f"{start}.season.lower": "1"}, "results")
    with pytest.raises(InvalidKeyError, match=r"expected a value for each of \['league', 'season'\]"):
        output_key({"dataset.totals.output.partition.key.league": "nfl"}, "totals", RESULTS)
    with pytest.raises(InvalidKeyError, match="'1999' is not one of"):
        output_key({**ARGUMENTS, "dataset.totals.output.partition.key.season": "1999"}, "totals", RESULTS)
