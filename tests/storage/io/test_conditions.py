"""What conditions on rows mean, for every kind of frame and of column."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions.core.errors import FilterError
from airflow_partitions.storage import Files, Filter, Layout, Parquet, field, prune
from airflow_partitions.storage.metadata.arrow_types import arrow_type
from tests.storage.io.lake import DAYS, FRAMES, LETTERS, add, rows


def numbered(tmp_path: Path, kind: str, values: list[Any]) -> Parquet:
    """A dataset of one file with these *values* as ``v`` and their numbers as ``id``."""
    files = Parquet(str(tmp_path / "lake"), partition=LETTERS, schema={"id": "int", "v": kind})
    ids = pa.array(range(len(values)), pa.int32())
    files.save({"a": pa.table({"id": ids, "v": pa.array(values, arrow_type(kind))})})
    return files


def ids(files: Files, where: Filter, kind: str = "arrow") -> list[int]:
    return [row["id"] for row in rows(files.read(where, kind, full_scan=True))]


V = field("v")


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (~V.isin(["x"]), [2]),
        (V != "x", [2]),
        (~(V == "x"), [2]),
        (~V.isin([]), [0, 1, 2]),
        (V.isin([]), []),
        (V == None, [0]),  # noqa: E711
        (V != None, [1, 2]),  # noqa: E711
        ((V == None) | (V == "x"), [0, 1]),  # noqa: E711
    ],
)
def test_es2_null_fits_nothing_but_is_none(tmp_path: Path, kind: str, where: Filter, expected: list[int]) -> None:
    assert ids(numbered(tmp_path, "string", [None, "x", "y"]), where, kind) == expected


@pytest.mark.parametrize("kind", ["int", "bigint"])
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (V > 1e6, [1]),
        (V == 2.0, [2]),
        (V > 1.5, [1, 2]),
        (V == 2.5, []),
        (V != 2.5, [0, 1, 2]),
        (V.isin([1.0, 2.5, 2**64]), [0]),
        (V < 2**64, [0, 1, 2]),
    ],
)
def test_es3_whole_numbers_are_compared_with_any(tmp_path: Path, kind: str, where: Filter, expected: list[int]) -> None:
    assert ids(numbered(tmp_path, kind, [1, 20_000_000, 2]), where) == expected


@pytest.mark.parametrize("kind", ["float", "double"])
def test_es12_there_is_one_zero_and_nan_fits_nothing(tmp_path: Path, kind: str) -> None:
    files = numbered(tmp_path, kind, [-0.0, 0.0, 1.0, float("nan"), None])
    for zero in (0, 0.0, -0.0, "0"):
        assert ids(files, zero == V) == ids(files, V.isin([zero])) == [0, 1]
        assert ids(files, zero != V) == ids(files, ~V.isin([zero])) == [2]
    assert ids(files, V > 0.5) == [2]
    assert ids(files, V != None) == [0, 1, 2, 3]  # noqa: E711


def test_es13_times_finer_than_a_microsecond_are_refused(tmp_path: Path) -> None:
    at = pd.Timestamp("2013-02-08T09:30:00.000000001Z")
    files = numbered(tmp_path, "timestamp", [at.floor("us").to_pydatetime()])
    assert ids(files, at.floor("us") == V) == [0]
    for where in (at == V, V.isin([at]), at < V):
        with pytest.raises(FilterError, match="finer than a microsecond"):
            ids(files, where)
    with pytest.raises(FilterError, match="finer than a microsecond"):
        prune(field("date") < at, Layout(DAYS))


@pytest.mark.parametrize(
    ("kind", "where", "words"),
    [
        ("binary", V == 1, "v == 1: 1 is no binary .*expected is None"),
        ("array<int>", V == 1, "v == 1: 1 is no array<int> .*expected is None"),
        ("bigint", V == "x", "'x' is no bigint"),
        ("decimal(5,2)", V == "NaN", "'NaN' is no decimal.*expected a finite number"),
        ("double", V == "inf", "'inf' is no double"),
        ("boolean", V == 1, "1 is no boolean"),
    ],
)
def test_es15_what_can_not_be_compared_is_told_as_such(tmp_path: Path, kind: str, where: Filter, words: str) -> None:
    files = numbered(tmp_path, kind, [None])
    with pytest.raises(FilterError, match=words):
        ids(files, where)
    assert ids(files, V == None) == [0]  # noqa: E711
    undeclared = Parquet(files.path, partition=LETTERS)
    with pytest.raises(FilterError, match="v == "):
        ids(undeclared, where)


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        (pa.dictionary(pa.int32(), pa.string()), V == "2"),
        (pa.large_string(), V.isin(["2"])),
        (pa.uint32(), (V > 1.5) & (V < 2**40)),
        (pa.int8(), V.isin([2, 300])),
        (pa.timestamp("ns"), V == "1970-01-01T00:00:00.000002"),
    ],
)
def test_files_of_others_are_compared_by_their_own_types(tmp_path: Path, kind: pa.DataType, where: Filter) -> None:
    values: list[Any] = ["1", "2", None] if not pa.types.is_primitive(kind) else [1, 2, None]
    if pa.types.is_timestamp(kind):
        values = [1000, 2000, None]
    (tmp_path / "letter=a").mkdir()
    pq.write_table(pa.table({"id": [0, 1, 2], "v": pa.array(values, kind)}), tmp_path / "letter=a" / "0.parquet")
    assert ids(Parquet(str(tmp_path), partition=LETTERS), where) == [1]


def test_es15_numbers_beyond_a_column_are_compared_all_the_same(tmp_path: Path) -> None:
    files = numbered(tmp_path, "decimal(5,2)", [Decimal("1.50"), None])
    for far in (Decimal("1e400"), "1e999999999", 10**400, 2**64):
        assert ids(files, far > V) == ids(files, far != V) == [0]
        assert ids(files, far <= V) == ids(files, far == V) == []


def test_rows_are_compared_by_the_types_of_the_files(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path), partition=DAYS)
    for day in (1, 2):
        add(files, f"2013-01-0{day}", {"d": [dt.date(2013, 1, day)], "s": ["1"], "n": [day]})
    january = field("date") < "2013-02-01"
    assert files.read(january & (field("d") == "2013-01-02"), "arrow")["n"].to_pylist() == [2]
    assert len(files.read(january & (field("s") == "1") & field("n").isin(["2"]), "arrow")) == 1
    with pytest.raises(FilterError, match="s == 1: 1 is no string"):
        files.read(january & (field("s") == 1), "arrow")
    with pytest.raises(FilterError, match="there is no column 'm'"):
        files.read(january & (field("m") == 1), "arrow")


def test_an_instant_is_the_same_in_any_zone_also_where_pandera_is_imported(tmp_path: Path) -> None:
    import pandera.pandas  # noqa: F401 - with it arrays of pyarrow leave offsets out

    moment = dt.datetime(2013, 11, 3, 5, 30, tzinfo=dt.UTC)
    files = numbered(tmp_path, "timestamp", [moment, moment - dt.timedelta(hours=5)])
    here = moment.astimezone(dt.timezone(dt.timedelta(hours=-5)))
    for where in (V.isin([here]), V.isin(["2013-11-03T00:30:00-05:00"]), here == V):
        assert ids(files, where) == [0]
    assert ids(files, ~V.isin([here])) == [1]
