"""What the listener counts is what ran: also of plans that change while they run, and of tables."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException

from tests.spark.server.conftest import ATTEMPT, Watched

pytestmark = pytest.mark.spark

Session = Callable[[], Watched]
FIRST, BOTH = (["flights/hour=00"], 1, 2), (["flights/hour=00", "flights/hour=01"], 2, 4)


def test_subqueries_and_joins_adaptive_and_not(watched: Session) -> None:
    for adaptive in ("true", "false"):
        session = watched()
        session.promise(0, 1)
        session.spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        session.read(0, 1).createOrReplaceTempView("mine")
        session.spark.sql("select * from mine where delay >= (select min(delay) from mine)").collect()
        assert session.scans == [BOTH, BOTH]
        session.read(0).join(session.read(0, 1), "origin").collect()
        assert session.scans == [FIRST, BOTH, BOTH, BOTH]


def test_a_reused_exchange_is_one_scan(watched: Session) -> None:
    session = watched()
    session.promise(0, 1)
    total = session.read(0, 1).groupBy("origin").sum("delay")
    total.union(total).collect()
    assert session.scans == [BOTH]


def test_a_stage_that_a_new_plan_left_out_counts(watched: Session) -> None:
    session = watched()
    session.promise(0, 1)
    session.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    nothing = session.read(0, 1).where("delay < -1").groupBy("origin").count()
    session.read(0, 1).groupBy("origin").sum("delay").join(nothing, "origin").collect()
    assert [scan[:2] for scan in session.scans] == [BOTH[:2], BOTH[:2]]


def test_a_cached_frame_is_read_once(watched: Session) -> None:
    session = watched()
    session.promise(0, 1)
    cached = session.read(0, 1).cache()
    cached.count()
    cached.groupBy("origin").count().collect()
    cached.write.parquet(f"{session.root}/out")
    cached.unpersist()
    assert session.scans == [BOTH]


def test_the_same_frame_twice_is_two_scans(watched: Session) -> None:
    session = watched()
    session.promise(0, 1)
    frame = session.read(0, 1).groupBy("origin").sum("delay")
    frame.collect()
    frame.collect()
    assert session.scans == [BOTH, BOTH]


def test_a_query_that_failed_counts(watched: Session) -> None:
    session = watched()
    session.promise(0, 1)
    with pytest.raises(PySparkException, match="boom"):
        session.read(0, 1).selectExpr("raise_error('boom')").collect()
    assert [scan[:2] for scan in session.scans] == [BOTH[:2]]


def test_a_query_that_was_not_understood_has_read_nothing(watched: Session) -> None:
    session = watched()
    session.promise(0)
    with pytest.raises(PySparkException, match="delya"):
        session.read(0).select("delya").collect()
    assert session.account == {"executions": 0, "scans": [], "unseen": [], "failure": None}


def test_other_formats_and_sources(watched: Session) -> None:
    session = watched()
    session.promise(strict=False)
    (session.root / "note.txt").write_text("a\nb\n")
    assert session.spark.read.text(f"{session.root}/note.txt").count() == 2
    (scan,) = session.account["scans"]
    assert (scan["locations"], scan["rows"]) == ([str(session.root)], 2)
    session.spark.conf.set("spark.sql.sources.useV1SourceList", "")
    session.spark.read.parquet(session.hour(0)).count()
    _, scan = session.account["scans"]
    assert scan["kind"] == "other"
    assert session.hour(0) in scan["description"]


def test_tables_of_the_catalog(watched: Session) -> None:
    session = watched()
    session.promise(strict=False)
    run, root = session.spark.sql, session.root
    run(f"create table flown using parquet location '{root}/flown' as select * from parquet.`{session.hour(0)}`")
    try:
        assert session.scans == [FIRST]
        run(f"insert into flown select * from parquet.`{session.hour(1)}`")
        assert run("select * from flown").count() == 4
        assert session.scans == [(["flights/hour=00"], 1, 2), (["flights/hour=01"], 1, 2), (["flown"], 2, 4)]
        columns = "(delay double, origin string) using parquet partitioned by (origin)"
        run(f"create table parts {columns} location '{root}/p'")
        run("insert into parts select delay, origin from flown")
        assert run("select * from parts where origin = 'EWR'").count() == 2
        assert (["p/origin=EWR"], 2, 2) in [(places, files, rows) for places, files, rows in session.scans]
    finally:
        run("drop table flown")
        run("drop table if exists parts")


def test_rows_that_are_no_plan_are_told(watched: Session) -> None:
    session = watched()
    session.promise(strict=False)
    kept = session.read(0).localCheckpoint(eager=False)
    kept.count()
    account = session.account
    assert account["unseen"] == ["FileScanRDD"]


@pytest.fixture
def table(watched: Session, tmp_path: Path) -> Callable[[], tuple[Watched, str, list[str]]]:
    """Makes a session with a table of Iceberg: a file of two rows for each of two days, and the paths of both."""

    def made() -> tuple[Watched, str, list[str]]:
        session = watched()
        catalog = "spark.sql.catalog.lake"
        session.spark.conf.set(catalog, "org.apache.iceberg.spark.SparkCatalog")
        session.spark.conf.set(f"{catalog}.type", "hadoop")
        session.spark.conf.set(f"{catalog}.warehouse", str(tmp_path / "warehouse"))
        run = session.spark.sql
        run("create table if not exists lake.db.t (day string, n int) using iceberg partitioned by (day)")
        if not run("select * from lake.db.t").head(1):
            run("insert into lake.db.t values ('d1', 1), ('d1', 2)")
            run("insert into lake.db.t values ('d2', 3), ('d2', 4)")
        files = run("select file_path from lake.db.t.files order by partition.day").collect()
        return session, f"{tmp_path}/warehouse/db/t", [row[0].removeprefix("file:") for row in files]

    return made


def test_files_of_iceberg(table: Callable[[], tuple[Watched, str, list[str]]]) -> None:
    session, folder, (first, second) = table()
    session.promise(strict=False)
    before = len(session.account["scans"])

    def scans() -> list[Any]:
        return [scan for scan in session.account["scans"][before:] if scan["kind"] == "table"]

    assert len(session.spark.read.format("iceberg").load(folder).where("day = 'd1'").collect()) == 2
    (scan,) = scans()
    assert scan["files"] == {first: Path(first).stat().st_size}
    assert len(session.spark.table("lake.db.t").where("n > 0").collect()) == 4
    assert scans()[1]["files"].keys() == {first, second}
    assert [scan["rows"] for scan in scans()] == [2, 4]


def test_strict_compares_the_files_of_iceberg(table: Callable[[], tuple[Watched, str, list[str]]]) -> None:
    session, folder, (first, second) = table()
    before = session.account
    session.promise(places=[first])
    reader = session.spark.read.format("iceberg").option("airflow_partitions.attempt", ATTEMPT)
    for cheat in (
        lambda: reader.load(folder).count(),
        lambda: reader.load(folder).where("day = 'd2'").collect(),
        lambda: reader.load(folder).where("n = 1 or day = 'd2'").write.parquet(f"{session.root}/out"),
        lambda: session.spark.sql("select * from lake.db.t.snapshots").collect(),
        lambda: session.spark.sql("select * from lake.db.t.files").collect(),
        lambda: session.spark.sql("update lake.db.t set n = 5 where day = 'd2'").collect(),
        lambda: session.spark.sql("select max(n) from lake.db.t where day = 'd2'").collect(),
    ):
        with pytest.raises(PySparkException, match="UNPROMISED_READ"):
            cheat()
    assert session.account == before
    assert reader.load(folder).where("day = 'd1'").count() == 2
    assert session.account["scans"][-1]["files"].keys() == {first}
    assert second not in str(session.account["scans"][len(before["scans"]) :])


def test_an_account_goes_with_its_session(watched: Session) -> None:
    keeper = watched()

    def accounts() -> int:
        keeper.spark.sql("select java_method('java.lang.System', 'gc')").collect()
        count = keeper.spark.sql("select java_method('airflow_partitions.Accounts', 'count')").collect()
        return int(count[0][0])

    sessions = [watched() for _ in range(5)]
    for session in sessions:
        session.promise(0)
        session.read(0).write.parquet(f"{session.root}/out", mode="overwrite")
    before = accounts()
    for session in sessions:
        session.spark.stop()
    for _ in range(60):
        if accounts() <= before - len(sessions):
            return
        time.sleep(1)
    raise AssertionError(f"{accounts()} of {before} accounts are left")
