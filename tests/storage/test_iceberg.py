"""Tables of Iceberg as a storage: declared, written, listed and read as any other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.authoring.arrival.arrivals import Arrivals
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import (
    FilterError,
    ForeignRowsError,
    InvalidDefinitionError,
    LayoutError,
    MissingInputError,
    ReaderError,
    StorageError,
    StoredError,
    UnknownOutcomeError,
    UnreachableError,
)
from airflow_partitions.storage import (
    Attempt,
    Commit,
    Consumer,
    Iceberg,
    Parquet,
    Ready,
    Storage,
    compact,
    drop_older,
    field,
    maintain_table,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEW_YORK = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="airport")
FLIGHTS = PartitionByProduct([NEW_YORK, AIRPORTS])
SCHEMA = {"departed_at": "timestamp", "origin": "string", "delay": "double"}


def catalog(folder: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db?timeout=60", "warehouse": str(folder / "warehouse")}


def table(folder: Path, partition: Any = NEW_YORK, **more: Any) -> Iceberg:
    columns = {"date": "departed_at"} if partition is NEW_YORK else {"date": "departed_at", "airport": "origin"}
    declared: dict[str, Any] = {"partition_on": columns, "schema": SCHEMA, "create": True} | more
    return Iceberg("flights.delays", catalog="lake", credentials=catalog(folder), partition=partition, **declared)


@pytest.fixture
def delays(tmp_path: Path) -> Iceberg:
    """Three days in New York, the last one without rows."""
    storage = table(tmp_path)
    noon = datetime(2013, 2, 8, 17, tzinfo=UTC)
    storage.save(
        {
            "2013-02-08": pa.table({"departed_at": [noon], "origin": ["JFK"], "delay": [3.0]}),
            # An hour that is another day in UTC.
            "2013-02-09": pa.table(
                {"departed_at": [noon + timedelta(hours=35)] * 2, "origin": ["EWR", "LGA"], "delay": [1.0, 2.0]}
            ),
            "2013-02-10": pl.DataFrame(schema={"origin": pl.String, "delay": pl.Float64}),
        }
    )
    return storage


def test_what_is_declared_goes_through_json() -> None:
    storage = Iceberg("flights.delays", catalog="lake", partition=FLIGHTS, partition_on={"date": "departed_at"})
    assert Storage.from_json(storage.to_json()) == storage
    assert storage.columns == {"date": "departed_at", "airport": "airport"}
    secret = table(Path("/nowhere"))
    assert "sqlite" not in f"{secret} {secret.to_json()}"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"path": "delays"}, InvalidDefinitionError, "'delays' has no namespace; expected one such as 'db.delays'"),
        ({"create": True}, InvalidDefinitionError, r"create=True needs the columns of the table; expected schema="),
        (
            {"partition_on": {"day": "ts"}},
            LayoutError,
            r"partition_on=\{'day': 'ts'\}; expected a column of the table for each of the dimensions date",
        ),
        ({"schema": {"n": "int"}}, LayoutError, "the column 'date' of partition_on= is not in the schema"),
        (
            {"ownership": "add-only"},
            InvalidDefinitionError,
            "ownership='add-only' is about files; expected 'read-only'",
        ),
        ({"partition_on": ["ts"]}, LayoutError, "expected the column of the table for each dimension"),
    ],
)
def test_what_makes_no_sense_is_told_at_once(arguments: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Iceberg(**{"path": "db.delays", "partition": NEW_YORK, **arguments})


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "polars.LazyFrame"])
def test_partitions_are_read_as_any_frame(delays: Iceberg, kind: str) -> None:
    frame = delays.read("2013-02-09", as_=kind, columns=["origin", "delay"])
    if kind == "arrow":
        frame = frame.to_pandas()
    elif kind != "pandas":
        frame = frame.lazy().collect().to_pandas()
    assert frame.sort_values("origin").to_dict("list") == {"origin": ["EWR", "LGA"], "delay": [1.0, 2.0]}


def test_a_filter_takes_days_of_the_zone_and_what_is_left_goes_to_the_rows(delays: Iceberg) -> None:
    days = field("date").between("2013-02-08", "2013-02-11")
    assert sorted(delays.read(days, as_="pandas")["origin"]) == ["EWR", "JFK", "LGA"]
    assert list(delays.read(days & (field("delay") > 1.5), as_="pandas", columns=["origin"])["origin"]) == [
        "JFK",
        "LGA",
    ]
    with pytest.raises(FilterError, match=r"no column 'dealy'|no field 'dealy'"):
        delays.read(days & (field("dealy") > 1.5), as_="pandas")


def test_partitions_are_listed_with_what_they_say_about_themselves(delays: Iceberg) -> None:
    partitions = delays.get_many()
    assert {str(key): each.rows for key, each in partitions.items()} == {
        "2013-02-08": 1,
        "2013-02-09": 2,
        "2013-02-10": 0,
    }
    assert delays.exists("2013-02-10")
    assert not delays.exists("2013-02-11")
    assert [str(each.key) for each in delays.list(field("date") >= "2013-02-09")] == ["2013-02-09", "2013-02-10"]
    with pytest.raises(MissingInputError, match=r"1 of 2 partitions are not stored in 'flights.delays': '2013-02-11'"):
        delays.read(["2013-02-10", "2013-02-11"], as_="pandas")


def test_the_keys_of_files_are_listed_only_where_they_may_be_those_that_are_read(
    delays: Iceberg, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow_partitions.storage.iceberg.table.file_keys import FileKeys

    files: list[Any] = []
    keys_of = FileKeys.keys_of

    def listed(self: FileKeys, file: Any) -> Any:
        files.append(file)
        return keys_of(self, file)

    monkeypatch.setattr(FileKeys, "keys_of", listed)
    assert delays.exists("2013-02-08")
    assert len(files) == 1


class Looks:
    """Counts how often a table is loaded, its list of manifests is read, and each of these.

    :ivar loads: looks at the catalog.
    :ivar lists: lists of manifests.
    :ivar manifests: paths of the manifests that were read.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from pyiceberg.manifest import ManifestFile
        from pyiceberg.table.snapshots import Snapshot

        from airflow_partitions.storage.iceberg.table.catalog import TableReference

        self.loads, self.lists, self.manifests = 0, 0, list[str]()
        find, manifests, fetch = TableReference.find, Snapshot.manifests, ManifestFile.fetch_manifest_entry

        def load(reference: TableReference) -> Any:
            self.loads += 1
            return find(reference)

        def read_list(snapshot: Snapshot, io: Any) -> Any:
            self.lists += 1
            return manifests(snapshot, io)

        def read(manifest: ManifestFile, *args: Any, **more: Any) -> Any:
            self.manifests.append(manifest.manifest_path)
            return fetch(manifest, *args, **more)

        monkeypatch.setattr(TableReference, "find", load)
        monkeypatch.setattr(Snapshot, "manifests", read_list)
        monkeypatch.setattr(ManifestFile, "fetch_manifest_entry", read)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("where", ["2013-02-08", field("date").between("2013-02-08", "2013-02-10")], ids=str)
def test_who_looks_whether_keys_are_there_plans_to_read_them(
    delays: Iceberg, monkeypatch: pytest.MonkeyPatch, where: Any, *, declared: bool
) -> None:
    storage = delays if declared else attrs.evolve(delays, schema=None, create=False)
    for day in ("2013-02-11", "2013-02-12"):
        delays.save({day: pa.table({"origin": ["LGA"], "delay": [4.0]})})
    looks = Looks(monkeypatch)
    frame = storage.read(where, as_="polars")
    assert frame["origin"].sort().to_list()[0] == ("JFK" if where == "2013-02-08" else "EWR")
    assert (looks.loads, looks.lists) == (1, 1)
    assert len(looks.manifests) == len(set(looks.manifests))
    if where == "2013-02-08":
        assert len(looks.manifests) == 1


def test_a_table_is_loaded_as_often_as_there_is_something_to_decide(
    delays: Iceberg, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(monkeypatch)
    delays.save({"2013-02-11": pa.table({"origin": ["LGA"], "delay": [4.0]})})
    assert looks.loads == 2  # as the writer begins; to compare and swap
    looks.loads = 0
    assert delays.exists("2013-02-11")
    assert looks.loads == 1
    looks.loads = 0
    list(delays.list())
    assert looks.loads == 1
    looks.loads = 0
    compact(delays, dry_run=True, now=datetime.now(UTC) + timedelta(days=2))
    assert looks.loads == 2  # which partitions there are; what is in them


def test_rows_deleted_in_a_way_that_pyiceberg_does_not_know_are_not_read_as_if_they_were_there(
    delays: Iceberg,
) -> None:
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat, ManifestEntry, ManifestEntryStatus
    from pyiceberg.typedef import Record

    from airflow_partitions.storage.iceberg.table.live_files import live_files
    from airflow_partitions.storage.iceberg.table.open import open_table
    from airflow_partitions.storage.iceberg.table.planned_files import scan_tasks

    table = open_table(delays)
    live = live_files(table.metadata, table.io, table.current_snapshot())
    file = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES, file_path="/lake/deletes.parquet", file_format=FileFormat.PARQUET,
        partition=Record(), record_count=1, file_size_in_bytes=1, equality_ids=[1],
    )  # fmt: skip
    for number, deleted in ((0, False), (9, True)):
        delete = ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, sequence_number=number, data_file=file)
        deleting = attrs.evolve(live, deletes=[delete])
        if deleted:
            with pytest.raises(StorageError, match=r"deletes\.parquet' deletes rows by their values.*as_='spark'"):
                scan_tasks(deleting, live.entries)
        else:
            assert len(scan_tasks(deleting, live.entries)) == len(list(live.entries))


def test_rows_of_another_day_are_refused_and_nothing_changes(delays: Iceberg) -> None:
    late = pa.table({"departed_at": [datetime(2013, 2, 12, 5, tzinfo=UTC)], "origin": ["JFK"], "delay": [1.0]})
    with pytest.raises(ForeignRowsError, match="rows of other partitions than '2013-02-11'"):
        delays.save({"2013-02-11": late})
    with pytest.raises(StoredError, match="'2013-02-08' is stored already"):
        delays.save({"2013-02-08": late.drop_columns(["departed_at"])})
    assert len(delays.get_many()) == 3


def test_a_table_of_others_is_only_read(delays: Iceberg) -> None:
    others = attrs.evolve(delays, ownership="read-only")
    assert len(others.get_many()) == 3
    with pytest.raises(InvalidDefinitionError, match=r"'flights.delays' has ownership='read-only'"):
        others.save({"2013-02-11": pa.table({"delay": [1.0]})})


def test_a_column_that_holds_the_keys_may_be_left_out(tmp_path: Path) -> None:
    storage = table(tmp_path, FLIGHTS)
    for number, frame in enumerate(
        [pl.DataFrame({"delay": [1.0]}), pd.DataFrame({"delay": [1.0]}), pa.table({"delay": [1.0]})], start=1
    ):
        storage.save({f"2013-02-0{number}|JFK": frame})
        (row,) = storage.read(f"2013-02-0{number}|JFK", as_="arrow").to_pylist()
        assert row["departed_at"] == datetime(2013, 2, number, 5, tzinfo=UTC)
        assert (row["origin"], row["delay"]) == ("JFK", 1.0)


def test_a_commit_of_several_keys_is_one_snapshot(delays: Iceberg) -> None:
    from airflow_partitions.storage.iceberg.table.open import open_table

    before = len(open_table(delays).snapshots())
    frame = pa.table({"delay": [5.0], "origin": ["EWR"]})
    with Commit(delays) as commit:
        commit.drop("2013-02-08")
        commit.truncate("2013-02-09")
    delays.save({"2013-02-11": frame, "2013-02-12": frame})
    assert len(open_table(delays).snapshots()) == before + 2
    assert {str(key): each.rows for key, each in delays.get_many().items()} == {
        "2013-02-09": 0,
        "2013-02-10": 0,
        "2013-02-11": 1,
        "2013-02-12": 1,
    }


def test_what_is_frozen_stays_as_it_was(delays: Iceberg) -> None:
    frozen = delays.freeze("run")
    delays.save({"2013-02-08": pa.table({"origin": ["LGA"], "delay": [9.0]})}, mode="overwrite")
    assert delays.freeze("run") == frozen
    assert frozen.read("2013-02-08", as_="arrow")["delay"].to_pylist() == [3.0]
    assert delays.read("2013-02-08", as_="arrow")["delay"].to_pylist() == [9.0]
    with pytest.raises(InvalidDefinitionError, match="so it is not written"):
        frozen.save({"2013-02-11": pa.table({"delay": [1.0]})})
    frozen.release()
    with pytest.raises(StorageError, match="released"):
        frozen.read("2013-02-08", as_="arrow")


@pytest.mark.parametrize("folder", [None, "kept"])
def test_a_table_that_is_read_as_a_whole_is_frozen_too(delays: Iceberg, tmp_path: Path, folder: str | None) -> None:
    from airflow_partitions.storage.iceberg.table.open import open_table

    whole = Iceberg("flights.delays", catalog="lake", credentials=dict(delays.credentials))
    frozen = whole.freeze("run", folder=None if folder is None else str(tmp_path / folder))
    delays.save({"2013-02-08": pa.table({"origin": ["LGA"], "delay": [9.0]})}, mode="overwrite")
    again = whole.freeze("run", folder=None if folder is None else str(tmp_path / folder))
    later = datetime.now(UTC) + timedelta(days=9)
    maintain_table(delays, now=later)
    assert sorted(again.read(as_="arrow")["delay"].to_pylist()) == [1.0, 2.0, 3.0]
    assert sorted(whole.read(as_="arrow")["delay"].to_pylist()) == [1.0, 2.0, 9.0]
    assert frozen == again
    assert frozen.pin is not None
    frozen.release()
    assert not Path(frozen.pin).exists()
    assert list(open_table(delays).metadata.refs) == ["main"]


def data_files(storage: Iceberg, folder: Path) -> dict[str, int]:
    """Names of the data files of a table, each with how many partitions name it."""
    names = {str(path): 0 for path in (folder / "warehouse").rglob("*.parquet")}
    for partition in storage.list():
        for path in partition.paths:
            names[path] += 1
    return names


def test_what_fails_for_good_leaves_no_file(delays: Iceberg, tmp_path: Path) -> None:
    rows, before = pa.table({"origin": ["LGA"], "delay": [9.0]}), data_files(delays, tmp_path)
    with pytest.raises(StoredError):
        delays.save({"2013-02-11": rows, "2013-02-08": rows})
    with pytest.raises(ForeignRowsError):
        delays.save({"2013-02-11": rows.append_column("departed_at", pa.array([datetime(2013, 2, 8, tzinfo=UTC)]))})

    def fails() -> pa.Table:
        raise OSError("no answer")

    with pytest.raises(OSError, match="no answer"):
        delays.save({"2013-02-11": rows, "2013-02-12": fails})
    assert data_files(delays, tmp_path) == before
    assert not list((tmp_path / "warehouse" / "flights" / "_delays" / "staging").iterdir())


def test_what_fails_removes_nothing_that_was_published_by_the_same_try(delays: Iceberg, tmp_path: Path) -> None:
    rows, attempt = pa.table({"origin": ["LGA"], "delay": [9.0]}), Attempt("dag", "run", 1)
    delays.save({"2013-02-11": rows}, attempt=attempt)
    delays.save({"2013-02-11": rows}, mode="overwrite")  # an older snapshot still names it
    before = data_files(delays, tmp_path)
    with pytest.raises(StoredError):
        delays.save({"2013-02-12": rows, "2013-02-08": rows}, attempt=attempt)
    assert data_files(delays, tmp_path) == before


@pytest.mark.parametrize("made", [True, False])
def test_what_was_stopped_while_it_was_published_is_left_for_maintenance(
    delays: Iceberg, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: bool
) -> None:
    from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange

    commit, before = TableChange.commit, data_files(delays, tmp_path)

    def stopped(change: TableChange) -> None:
        if made:
            commit(change)
        raise KeyboardInterrupt

    monkeypatch.setattr(TableChange, "commit", stopped)
    with pytest.raises(KeyboardInterrupt):
        delays.save({"2013-02-11": pa.table({"origin": ["LGA"], "delay": [9.0]})})
    monkeypatch.undo()
    files = data_files(delays, tmp_path)
    (new,) = files.keys() - before.keys()
    assert files[new] == int(made)
    maintain_table(delays, now=datetime.now(UTC) + timedelta(days=9))
    assert (new in data_files(delays, tmp_path)) == made


def test_an_answer_that_is_lost_before_what_is_stored_can_be_read_leaves_the_outcome_open(
    delays: Iceberg, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow_partitions.storage.iceberg.table import publish
    from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange

    before = data_files(delays, tmp_path)

    def lost(change: TableChange) -> None:
        def gone(*arguments: Any) -> None:
            raise UnreachableError("the files are away")

        monkeypatch.setattr(publish, "live_files", gone)
        raise UnreachableError("no answer")

    monkeypatch.setattr(TableChange, "commit", lost)
    with pytest.raises(UnknownOutcomeError, match="answer was lost"):
        delays.save({"2013-02-11": pa.table({"origin": ["LGA"], "delay": [9.0]})})
    assert len(data_files(delays, tmp_path)) == len(before) + 1


def test_thousands_of_keys_are_one_short_condition(tmp_path: Path) -> None:
    from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
    from airflow_partitions.storage.iceberg.table.open import open_table
    from airflow_partitions.storage.iceberg.table.row_filter import RowFilter

    storage = table(tmp_path, FLIGHTS)
    storage.save({"2013-02-08|JFK": pa.table({"delay": [1.0]})})
    keys = KeyFilter.of(storage.layout, storage.columns, open_table(storage).schema())
    selected = [key for key in FLIGHTS.keys("2013-01-01", "2023-01-01") if str(key) != "2014-05-05|LGA"]
    rows = RowFilter.of(keys, selected)
    assert len(rows.terms) == 2
    assert len(rows.sql) < 800


def test_two_writers_may_make_the_first_table_of_a_namespace_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    def exists(catalog: SqlCatalog, namespace: Any) -> bool:
        """As one writer sees it: there is none, and then another has made it."""
        before = now(catalog, namespace)
        if not before:
            monkeypatch.undo()
            catalog.create_namespace(namespace)
        return before

    now = SqlCatalog.namespace_exists
    storage = table(tmp_path)
    monkeypatch.setattr(SqlCatalog, "namespace_exists", exists)
    storage.save({"2013-02-08": pa.table({"origin": ["JFK"], "delay": [3.0]})})
    assert SqlCatalog.namespace_exists is now
    assert storage.exists("2013-02-08")


def test_a_table_that_is_not_there_is_told_with_the_nearest(delays: Iceberg, tmp_path: Path) -> None:
    other = Iceberg("flights.delay", catalog="lake", credentials=catalog(tmp_path), partition=NEW_YORK)
    with pytest.raises(MissingInputError, match=r"no table 'flights.delay' in .*; nearest: 'flights.delays'"):
        other.exists("2013-02-08")


@pytest.mark.spark
def test_spark_is_given_the_manifests_that_were_planned_and_none_before(
    delays: Iceberg, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in ("2013-02-11", "2013-02-12", "2013-02-13"):
        delays.save({day: pa.table({"origin": ["LGA"], "delay": [4.0]})})
    looks = Looks(monkeypatch)
    frame = delays.read("2013-02-12", spark=spark)
    assert [(row.origin, row.delay) for row in frame.collect()] == [("LGA", 4.0)]
    assert (looks.loads, looks.lists, len(looks.manifests)) == (1, 1, 1)
    plan: Any = frame._jdf.queryExecution().sparkPlan()
    table = plan.collectLeaves().head().scan().table()
    assert table.currentSnapshot().allManifests(table.io()).size() == 1
    assert len(list(table.snapshots())) == 1


@pytest.mark.spark
def test_spark_reads_and_writes_without_a_catalog(delays: Iceberg, spark: SparkSession) -> None:
    frame = spark.createDataFrame([("JFK", 7.5), ("EWR", 8.5)], "origin string, delay double")
    delays.save({"2013-02-11": frame, "2013-02-12": frame.limit(0)})
    days = field("date").between("2013-02-09", "2013-02-13") & (field("origin") == "EWR")
    assert sorted(row.delay for row in delays.read(days, spark=spark).collect()) == [1.0, 8.5]
    assert delays.read("2013-02-12", spark=spark).count() == 0
    assert delays.read("2013-02-11", spark=spark).columns == list(SCHEMA)
    late = spark.sql("select timestamp '2013-03-01 00:00:00' departed_at, 'JFK' origin, 1d delay")
    with pytest.raises(ForeignRowsError, match="rows of other partitions than '2013-02-13'"):
        delays.save({"2013-02-13": late})


def test_a_session_without_the_package_is_told(delays: Iceberg, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.storage.io.spark_reader import known_format

    class Session:
        version = "4.1.3"

    from pyspark.errors import AnalysisException

    with (
        pytest.raises(ReaderError, match=r"org\.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1"),
        known_format("iceberg", Session()),  # type: ignore[arg-type]
    ):
        raise AnalysisException("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: iceberg.")


def appended_by_others(delays: Iceberg, *moments: datetime) -> None:
    from airflow_partitions.storage.iceberg.table.open import open_table

    count = len(moments)
    times = pa.array(moments, pa.timestamp("us", "UTC"))
    open_table(delays).append(pa.table({"departed_at": times, "origin": ["LGA"] * count, "delay": [4.0] * count}))


def test_what_others_append_is_consumed_too(delays: Iceberg, tmp_path: Path) -> None:
    consumer = Consumer(delays, state=str(tmp_path / "state"))
    with consumer.take() as batch:
        assert batch.keys == ["2013-02-08", "2013-02-09", "2013-02-10"]
    appended_by_others(delays, datetime(2013, 2, 9, 20, tzinfo=UTC), datetime(2013, 2, 13, 4, tzinfo=UTC))
    with consumer.take() as batch:
        assert batch.keys == ["2013-02-12"]
        assert [frame["delay"].to_list() for frame in batch.load(as_="polars").values()] == [[4.0]]
    assert not consumer.take()
    with pytest.raises(InvalidDefinitionError, match=r"'flights.delays' is a table, .* give state= a folder"):
        Consumer(delays)


@pytest.mark.parametrize("kind", ["table", "folders", "log"])
def test_a_partition_that_changes_later_is_given_out_once(delays: Iceberg, tmp_path: Path, kind: str) -> None:
    storage: Storage = delays
    rows = pa.table({"origin": ["LGA"], "delay": [9.0]})
    if kind != "table":
        log = str(tmp_path / "log") if kind == "log" else None
        storage = Parquet(str(tmp_path / "files"), partition=NEW_YORK, log=log)
        storage.save(dict.fromkeys(["2013-02-08", "2013-02-09"], rows))
    consumer = Consumer(storage, "report", state=str(tmp_path / "state"))
    with consumer.take() as batch:
        assert "2013-02-08" in batch.keys
    storage.save({"2013-02-08": rows}, mode="overwrite")
    storage.save({"2013-02-09": rows}, mode="append")
    assert not consumer.take()
    assert not Arrivals(storage, "report", state=str(tmp_path / "state")).consumer().pending()


def test_it_is_waited_for_what_others_append(delays: Iceberg) -> None:
    from airflow_partitions.authoring.arrival.missing import missing

    selection = Selection.of(NEW_YORK, *NEW_YORK.keys("2013-02-08", "2013-02-13"))
    assert missing(delays, selection, Ready()) == ["2013-02-10", "2013-02-11", "2013-02-12"]
    appended_by_others(delays, datetime(2013, 2, 13, 4, tzinfo=UTC))
    assert missing(delays, selection, Ready()) == ["2013-02-10", "2013-02-11"]
    arrivals = Arrivals(Iceberg("flights.delays", catalog="lake", partition=NEW_YORK), "report", state="/state")
    assert Arrivals.from_json(arrivals.to_json()) == arrivals


def test_what_is_old_is_dropped(delays: Iceberg) -> None:
    now = datetime(2013, 2, 12, tzinfo=UTC)
    assert drop_older(delays, timedelta(days=1), now=now) == ["2013-02-08", "2013-02-09"]
    assert [str(each.key) for each in delays.list()] == ["2013-02-10"]


def test_a_table_is_kept_small_and_what_is_frozen_stays(delays: Iceberg) -> None:
    from airflow_partitions.storage.iceberg.table.open import open_table

    frozen = delays.freeze("run")
    for number in range(3):
        delays.save({"2013-02-08": pa.table({"origin": ["LGA"], "delay": [float(number)]})}, mode="overwrite")
    later: dict[str, Any] = {"now": datetime.now(UTC) + timedelta(days=9)}
    before = {str(key): each.metadata for key, each in delays.get_many().items()}
    told = maintain_table(delays, dry_run=True, **later)
    assert (len(told.snapshots), told.into) == (2, 1)
    done = maintain_table(delays, **later)
    assert (done.snapshots, len(open_table(delays).snapshots())) == (told.snapshots, 2 + (done.manifests > done.into))
    assert {str(key): each.metadata for key, each in delays.get_many().items()} == before
    assert frozen.read("2013-02-08", as_="arrow")["delay"].to_pylist() == [3.0]
    assert delays.read("2013-02-08", as_="arrow")["delay"].to_pylist() == [2.0]
    frozen.release()
    assert len(maintain_table(delays, **later).snapshots) >= 1
    with pytest.raises(InvalidDefinitionError, match="is no table"):
        maintain_table(Parquet("/lake/delays", partition=NEW_YORK))


def test_small_files_are_merged_within_their_key(delays: Iceberg) -> None:
    for key in ("2013-02-08", "2013-02-09"):
        for number in range(3):
            delays.save({key: pa.table({"origin": ["LGA"], "delay": [float(number)]})}, mode="append")
    later = datetime.now(UTC) + timedelta(days=2)
    told = compact(delays, dry_run=True, now=later)
    done = compact(delays, now=later)
    assert [(each.key, each.files, each.into, each.done) for each in told] == [
        ("2013-02-08", 4, 2, False),  # the hour of what was there, and that in which the day begins
        ("2013-02-09", 4, 2, False),
    ]
    assert [(each.files, each.into, each.done) for each in done] == [(4, 2, True)] * 2
    assert compact(delays, now=later) == []
    partition = delays.get("2013-02-09")
    assert partition is not None
    assert (partition.rows, len(partition.files)) == (5, 2)
    assert sorted(delays.read("2013-02-09", as_="pandas")["delay"]) == [0.0, 1.0, 1.0, 2.0, 2.0]
