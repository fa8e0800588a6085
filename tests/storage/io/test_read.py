"""Reading without Spark: one schema, the columns of the folders, every format, and readers of others."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, Selection
from airflow_partitions.errors import (
    FilterError,
    InvalidDefinitionError,
    InvalidKeyError,
    LayoutError,
    MissingInputError,
    ReaderError,
    SchemaError,
    StorageError,
)
from airflow_partitions.storage import (
    Avro,
    Column,
    Csv,
    FilePerKey,
    Files,
    Filter,
    Json,
    Layout,
    Orc,
    Parquet,
    Reader,
    ReadRequest,
    Text,
    field,
    prune,
    register_reader,
)
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.metadata.arrow_types import arrow_type, fits, spark_name

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", end="2014-01-01", name="date")
AIRPORT_DAYS = PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK"], name="airport")])
SCHEMA = {"carrier": "string", "delay": "double"}
FRAMES = {"arrow": pa.Table, "pandas": pd.DataFrame, "polars": pl.DataFrame}


def add(files: Files, key: str, columns: dict[str, Any]) -> Path:
    folder = Path(files.path_of(files.layout.definition.parse(key)))
    folder.mkdir(parents=True)
    pq.write_table(pa.table(columns), folder / "0.parquet")
    return folder / "0.parquet"


@pytest.fixture
def delays(tmp_path: Path) -> Parquet:
    columns = {"date": Column("%Y-%m-%d", "date"), "airport": "{airport}"}
    files = Parquet(str(tmp_path / "delays"), partition=AIRPORT_DAYS, partition_on=columns, schema=SCHEMA)
    for number, key in enumerate(AIRPORT_DAYS.keys("2013-01-01", "2013-01-11")):
        add(files, str(key), {"carrier": ["AA", "UA"], "delay": [float(number), -1.0]})
    return files


WEEK = field("date").between("2013-01-02", "2013-01-09") & (field("airport") == "JFK")


def rows(frame: Any) -> list[dict[str, Any]]:
    if isinstance(frame, pd.DataFrame):
        return pa.Table.from_pandas(frame).to_pylist()
    return frame.to_arrow().to_pylist() if isinstance(frame, pl.DataFrame) else frame.to_pylist()


@pytest.mark.parametrize("kind", FRAMES)
def test_one_frame_of_many_partitions(delays: Parquet, kind: str) -> None:
    frame = delays.read(WEEK, kind)
    assert type(frame) is FRAMES[kind]
    assert list(frame.columns if kind != "arrow" else frame.column_names) == ["carrier", "delay", "date", "airport"]
    assert [row["delay"] for row in rows(frame) if row["carrier"] == "AA"] == [3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0]
    assert {row["date"] for row in rows(frame)} == {dt.date(2013, 1, day) for day in range(2, 9)}
    assert {row["airport"] for row in rows(frame)} == {"JFK"}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_may_be_asked_for_by_its_type(delays: Parquet, kind: str) -> None:
    assert type(delays.read("2013-01-02|JFK", FRAMES[kind])) is FRAMES[kind]


def test_conditions_on_rows_and_columns_go_to_the_reader(delays: Parquet) -> None:
    frame = delays.read(WEEK & (field("delay") > 10), "arrow", columns=["airport", "delay"])
    assert frame.to_pydict() == {"airport": ["JFK"] * 3, "delay": [11.0, 13.0, 15.0]}
    mixed = (field("delay") > 18) | ((field("airport") == "EWR") & (field("delay") < 0))
    assert delays.read(mixed & (field("date") >= "2013-01-10"), "arrow")["delay"].to_pylist() == [-1.0, 19.0]


LETTERS = PartitionBySequence(["a"], name="letter")


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


def test_reading_everything_is_asked_for(delays: Parquet) -> None:
    with pytest.raises(FilterError, match=r"no part of the filter delay > 3 excludes a partition .*full_scan=True"):
        delays.read(field("delay") > 3, "arrow")
    assert delays.read(field("delay") > 17, "arrow", full_scan=True)["delay"].to_pylist() == [18.0, 19.0]
    assert len(delays.read(as_="arrow")) == 40


def test_keys_and_selections(delays: Parquet) -> None:
    one, other = AIRPORT_DAYS.parse("2013-01-02|JFK"), AIRPORT_DAYS.parse("2013-01-03|EWR")
    for where in (one, str(one), dict(one), [one], iter([one]), Selection.of(AIRPORT_DAYS, one)):
        assert delays.read(where, "arrow")["delay"].to_pylist() == [3.0, -1.0]
    assert len(delays.read([one, other], "arrow")) == 4
    assert len(delays.read(delays.get_many(WEEK), "arrow")) == 14
    with pytest.raises(MissingInputError, match=r"1 of 2 partitions are not stored .*'2013-02-01\|JFK'"):
        delays.read([one, "2013-02-01|JFK"], "arrow")
    with pytest.raises(InvalidKeyError, match="'XXX' is not one of"):
        delays.read("2013-01-02|XXX", "arrow")
    with pytest.raises(InvalidDefinitionError, match="a selection of"):
        delays.read(Selection.of(DAYS, "2013-01-02"), "arrow")


def test_c2_get_one_and_many(delays: Parquet) -> None:
    found = delays.get("2013-01-02|JFK")
    assert found is not None
    assert str(found.key) == "2013-01-02|JFK"
    assert list(found.files) == ["0.parquet"]
    assert found.bytes == sum(found.files.values()) > 0
    assert found.paths == (f"{delays.path}/date=2013-01-02/airport=JFK/0.parquet",)
    assert delays.get("2013-02-01|JFK") is None
    assert delays.exists("2013-01-02|JFK")
    assert not delays.exists("2013-02-01|JFK")
    assert [str(key) for key in delays.get_many(WEEK)] == [f"2013-01-0{day}|JFK" for day in range(2, 9)]
    assert delays.get_many(["2013-01-02|JFK", "2013-02-01|JFK"]).keys() == {found.key}
    with pytest.raises(FilterError, match="is about rows"):
        list(delays.list(WEEK & (field("delay") > 3.0)))


def test_a_folder_that_is_no_partition_is_an_error(delays: Parquet) -> None:
    stray = Path(delays.path, "date=2012-12-31", "airport=JFK")
    stray.mkdir(parents=True)
    (stray / "0.parquet").write_bytes(Path(delays.get("2013-01-02|JFK").paths[0]).read_bytes())  # type: ignore[union-attr]
    with pytest.raises(LayoutError, match="'date=2012-12-31/airport=JFK' is not the directory of a partition"):
        delays.read(as_="arrow")
    assert len(delays.read(field("date") >= "2013-01-01", "arrow")) == 40


def test_widening_and_missing_columns(tmp_path: Path) -> None:
    wide = {"n": "bigint", "x": "double", "at": "timestamp_ntz", "d": "decimal(10,2)", "new": "array<string>"}
    files = Parquet(str(tmp_path), partition=DAYS, schema=wide)
    add(files, "2013-01-01", {"n": pa.array([1], pa.int32()), "x": pa.array([1.5], pa.float32()), "old": [1]})
    add(files, "2013-01-02", {"at": pa.array([dt.date(2013, 1, 2)]), "x": pa.array([2], pa.int16())})
    add(files, "2013-01-03", {"n": [3], "d": pa.array([1], pa.decimal128(4, 1)), "new": [["a"]]})
    frame = files.read(as_="arrow")
    assert frame.column_names == ["n", "x", "at", "d", "new", "date"]
    assert frame.drop(["date"]).to_pydict() == {
        "n": [1, None, 3],
        "x": [1.5, 2.0, None],
        "at": [None, dt.datetime(2013, 1, 2), None],  # noqa: DTZ001
        "d": [None, None, 1],
        "new": [None, None, ["a"]],
    }


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"n": ["1"]}, "column 'n' is string, but is declared as int32"),
        ({"n": pa.array([1], pa.int64())}, "column 'n' is int64"),
        ({"n": [1.0]}, "column 'n' is double"),
        ({"N": pa.array([1], pa.int32())}, "column 'N' is written 'n'"),
    ],
)
def test_a_file_that_does_not_fit_is_named_before_anything_is_read(tmp_path: Path, column: Any, words: str) -> None:
    files = Parquet(str(tmp_path), partition=DAYS, schema={"n": "int"})
    add(files, "2013-01-01", {"n": pa.array([1], pa.int32())})
    path = add(files, "2013-01-02", column)
    with pytest.raises(SchemaError, match=words) as error:
        files.read(as_="arrow")
    assert str(path) in str(error.value)


def test_without_a_schema_it_is_that_of_the_first_file(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path), partition=DAYS)
    add(files, "2013-01-01", {"n": [1], "date": ["in the file too"]})
    add(files, "2013-01-02", {"n": pa.array([2], pa.int32()), "m": [1]})
    assert files.read(as_="arrow").to_pylist() == [{"n": 1, "date": "2013-01-01"}, {"n": 2, "date": "2013-01-02"}]
    add(files, "2013-01-03", {"n": ["x"]})
    with pytest.raises(SchemaError, match="in the first file, int64"):
        files.read(as_="arrow")
    with pytest.raises(MissingInputError, match="so there is no schema"):
        files.read([], "arrow")
    assert attrs.evolve(files, schema={"n": "bigint"}).read([], "arrow").to_pydict() == {"n": [], "date": []}


def test_what_was_published_here_tells_its_schema(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "lake"), partition=DAYS, schema={"n": "bigint"})
    with Commit(files) as commit:
        pq.write_table(pa.table({"n": [1]}), commit.stage("2013-01-01") / "0.parquet")
        commit.put("2013-01-01", schema={"n": "bigint"})
    add(files, "2013-01-02", {"n": pa.array([2], pa.int32())})
    assert sorted(files.read(as_="arrow")["n"].to_pylist()) == [1, 2]
    narrow = attrs.evolve(files, schema={"n": "int"})
    assert narrow.read("2013-01-02", "arrow")["n"].to_pylist() == [2]
    with pytest.raises(SchemaError, match="date=2013-01-01: column 'n' is int64, but is declared as int32"):
        narrow.read(as_="arrow")


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


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path), partition=DAYS, schema={"n": "int"})
    path = add(files, "2013-01-01", {"n": [1]})
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(StorageError, match="can't be read as parquet") as error:
        files.read(as_="arrow")
    assert str(path) in str(error.value)


def test_values_of_folders_come_back_as_they_are(tmp_path: Path) -> None:
    texts = ["01", "1e3", "a b+c=d/e%2F", "x'{[]}\\", "é|✓", "NA"]
    files = Parquet(str(tmp_path), partition=PartitionBySequence(texts, name="code"), schema={"n": "bigint"})
    for text in texts:
        add(files, text, {"n": [1]})
    assert sorted(files.read(as_="arrow")["code"].to_pylist()) == sorted(texts)
    assert sorted(files.load(as_="arrow")) == sorted(texts)
    assert files.read(field("code") == "a b+c=d/e%2F", "arrow")["code"].to_pylist() == ["a b+c=d/e%2F"]


def write(files: Files, key: str, table: pa.Table) -> None:
    folder = Path(files.path_of(files.layout.definition.parse(key)))
    folder.mkdir(parents=True)
    if files.format == "avro":
        import fastavro

        fields = [{"name": "carrier", "type": ["null", "string"]}, {"name": "delay", "type": ["null", "double"]}]
        with (folder / "0.avro").open("wb") as file:
            fastavro.writer(file, {"type": "record", "name": "row", "fields": fields}, table.to_pylist())
    elif files.format == "json":
        (folder / "0.json").write_text(pl.from_arrow(table).write_ndjson())  # type: ignore[union-attr]
    elif files.format == "orc":
        orc.write_table(table, folder / "0.orc")
    elif files.format == "text":
        (folder / "0.txt").write_text("AA 1\r\nUA é\n")
    else:
        ds.write_dataset(table, folder, format=files.format, existing_data_behavior="overwrite_or_ignore")


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("made", [Parquet, Orc, Json, Avro, Csv])
def test_every_format_is_read_alike(tmp_path: Path, made: Any, kind: str) -> None:
    options = {"header": True} if made is Csv else {}
    files = made(str(tmp_path), partition=DAYS, schema=SCHEMA, options=options)
    write(files, "2013-01-01", pa.table({"carrier": ["AA", None], "delay": [1.5, None]}))
    write(files, "2013-01-02", pa.table({"carrier": ["é,\"'"], "delay": [2.0]}))
    found = rows(files.read(field("date") < "2013-01-03", kind))
    assert [row["date"] for row in found] == ["2013-01-01", "2013-01-01", "2013-01-02"]
    assert [row["carrier"] for row in found] in (["AA", None, "é,\"'"], ["AA", float("nan"), "é,\"'"])
    assert [row["delay"] for row in found][::2] == [1.5, 2.0]
    assert rows(files.read((field("date") == "2013-01-02") & (field("delay") > 3), kind)) == []


def test_csv_without_header_and_with_other_separators(tmp_path: Path) -> None:
    files = Csv(str(tmp_path), partition=DAYS, schema={**SCHEMA, "more": "int"}, options={"sep": ";", "nullValue": "-"})
    folder = tmp_path / "date=2013-01-01"
    folder.mkdir()
    (folder / "0.csv").write_text("AA;1.5;-\nUA;-;7\n")
    assert files.read(as_="arrow", columns=["carrier", "delay", "more"]).to_pylist() == [
        {"carrier": "AA", "delay": 1.5, "more": None},
        {"carrier": "UA", "delay": None, "more": 7},
    ]
    with pytest.raises(ReaderError, match="option 'mode' of 'csv' is known to Spark alone"):
        attrs.evolve(files, options={"mode": "PERMISSIVE"}).read(as_="arrow")
    (folder / "1.csv").write_text("AA;late;1\n")
    with pytest.raises(StorageError, match=r"can't be read as csv: .*late"):
        attrs.evolve(files, options={"sep": ";", "nullValue": "-", "mode": "FAILFAST"}).read(as_="arrow")


def test_text_is_lines(tmp_path: Path) -> None:
    files = Text(str(tmp_path), partition=DAYS)
    write(files, "2013-01-01", pa.table({}))
    assert files.read("2013-01-01", "polars").rows() == [("AA 1", "2013-01-01"), ("UA é", "2013-01-01")]


def test_storage_without_partitions(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "a.parquet")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "b.parquet").write_bytes(b"half")
    assert Parquet(str(tmp_path)).read(as_="arrow").to_pydict() == {"n": [1]}
    with pytest.raises(InvalidDefinitionError, match="has no partitions"):
        list(Parquet(str(tmp_path)).list())


def test_memory_is_for_readers_in_this_process() -> None:
    import fsspec

    files = Parquet("memory://lake/delays", partition=DAYS, schema={"n": "bigint"}, ownership="read-only")
    with fsspec.open(f"{files.path_of(DAYS.parse('2013-01-01'))}/0.parquet", "wb") as file:
        pq.write_table(pa.table({"n": [1]}), file)
    assert files.read(field("date") == "2013-01-01", "pandas")["n"].to_list() == [1]
    assert {key: len(load()) for key, load in files.load(as_="polars").items()} == {"2013-01-01": 1}


class Sizes(Reader):
    """How many bytes there are."""

    frame = "sizes"
    protocols = ("file",)

    def read(self, scan: ReadRequest) -> int:
        return sum(partition.bytes for partition in scan.partitions or ())


class ParquetSizes(Sizes):
    formats = ("parquet",)

    def read(self, scan: ReadRequest) -> int:
        return -1


def test_f2_readers_of_others(delays: Parquet) -> None:
    with pytest.raises(ReaderError, match=r"nothing reads format 'parquet' on 'file' as 'sizes'; expected .*arrow"):
        delays.read(as_="sizes")
    register_reader(Sizes())
    assert delays.read("2013-01-02|JFK", "sizes") == delays.get("2013-01-02|JFK").bytes  # type: ignore[union-attr]
    assert attrs.evolve(delays).load(WEEK, "sizes")["2013-01-02|JFK"]() > 0
    with pytest.raises(ReaderError, match="Sizes reads any format on file as 'sizes' already"):
        register_reader(Sizes())
    register_reader(ParquetSizes())
    assert delays.read("2013-01-02|JFK", "sizes") == -1
    with pytest.raises(ReaderError, match="on 's3' as 'sizes'"):
        Parquet("s3://x/y", partition=DAYS).read(as_="sizes")
    with pytest.raises(ReaderError, match="format 'xml'"):
        Files("/x", format="xml", partition=DAYS).read(as_="arrow")


@pytest.mark.parametrize(
    ("kind", "alias"),
    [
        ("int", pa.int32()),
        ("array<map<string, double>>", pa.list_(pa.map_(pa.string(), pa.float64()))),
        ("struct<a: int, `b c`: decimal(4,2)>", pa.struct([("a", pa.int32()), ("b c", pa.decimal128(4, 2))])),
        ("varchar(10)", pa.string()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("DECIMAL", pa.decimal128(10, 0)),
    ],
)
def test_types_of_spark_in_arrow(kind: str, alias: Any) -> None:
    assert arrow_type(kind) == alias
    assert fits(alias, alias)


def test_unknown_types_are_refused() -> None:
    with pytest.raises(SchemaError, match="type 'variant' has no counterpart"):
        arrow_type("variant")


def test_names_of_types_round_trip() -> None:
    plain = ["tinyint", "smallint", "int", "bigint", "float", "double", "string", "boolean", "date", "timestamp"]
    assert [spark_name(arrow_type(kind)) for kind in plain] == plain
    assert spark_name(pa.decimal128(5, 2)) == "decimal(5,2)"
    assert spark_name(pa.list_(pa.int32())) is None


def test_json_form_of_datasets(tmp_path: Path) -> None:
    made = [
        Csv("/x", partition=DAYS, options={"sep": ";"}, credentials={"key": "secret"}),
        Files("s3://x/y", format="xml", partition=DAYS),
        Files("/x", format="csv", partition_on=FilePerKey(".csv", find={"maxdepth": 1})),
    ]
    for files in made:
        form = files.to_json()
        assert "secret" not in str(form)
        assert "secret" not in repr(files)
        assert Files.from_json(form) == files


def test_options_that_are_not_ours_to_give() -> None:
    with pytest.warns(UserWarning, match="option 'path' is ignored"):
        files = Csv("/x", options={"path": "/y", "sep": ";"})
    assert dict(files.options) == {"sep": ";"}
    with pytest.raises(InvalidDefinitionError, match="versioned"):
        Csv("/x", options={"versioned": True})
    with pytest.raises(InvalidDefinitionError, match="ownership='yes'; expected one of: 'owned'"):
        Csv("/x", ownership="yes")
