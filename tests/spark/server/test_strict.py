"""A strict session reads what it was promised; all else is refused before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.errors import PySparkException

from tests.spark.server.conftest import Watched

pytestmark = pytest.mark.spark

Session = Callable[[], Watched]
ROWS = "origin string, delay double"


def other_hour(w: Watched) -> Any:
    return w.read(1).collect()


def one_hour_too_many(w: Watched) -> Any:
    return w.read(0, 1).collect()


def other_dataset(w: Watched) -> Any:
    return w.spark.read.schema(ROWS).parquet(f"{w.root}/weather/hour=01").collect()


def one_file(w: Watched) -> Any:
    return w.spark.read.schema(ROWS).parquet(f"{w.hour(1)}/0.parquet").collect()


def pattern(w: Watched) -> Any:
    return w.spark.read.schema(ROWS).parquet(f"{w.root}/flights/hour=0*").collect()


def path_in_sql(w: Watched) -> Any:
    return w.spark.sql(f"select * from parquet.`{w.hour(1)}`").collect()


def view(w: Watched) -> Any:
    w.spark.sql(f"create temporary view v using parquet options (path '{w.hour(1)}')")
    return w.spark.table("v").collect()


def view_of_a_frame(w: Watched) -> Any:
    w.read(1).createOrReplaceTempView("v")
    return w.spark.table("v").collect()


def common_table_expression(w: Watched) -> Any:
    return w.spark.sql(f"with t as (select * from parquet.`{w.hour(1)}`) select * from t").collect()


def in_a_subquery(w: Watched) -> Any:
    w.read(0).createOrReplaceTempView("mine")
    return w.spark.sql(f"select * from mine where origin in (select origin from parquet.`{w.hour(1)}`)").collect()


def scalar_subquery(w: Watched) -> Any:
    return w.spark.sql(f"select (select max(delay) from parquet.`{w.hour(1)}`)").collect()


def exists_subquery(w: Watched) -> Any:
    w.read(0).createOrReplaceTempView("mine")
    return w.spark.sql(f"select * from mine where exists (select 1 from parquet.`{w.hour(1)}`)").collect()


def beside_an_answer_of_ours(w: Watched) -> Any:
    query = f"select value from airflow_partitions_reads() where exists (select 1 from parquet.`{w.hour(1)}`)"
    return w.spark.sql(query).collect()


def join(w: Watched) -> Any:
    return w.read(0).join(w.read(1), "origin").count()


def union(w: Watched) -> Any:
    return w.read(0).union(w.read(1)).count()


def cache(w: Watched) -> Any:
    return w.read(1).cache().count()


def cached_table(w: Watched) -> Any:
    return w.spark.sql(f"cache table t as select * from parquet.`{w.hour(1)}`").collect()


def local_checkpoint(w: Watched) -> Any:
    return w.read(1).localCheckpoint().count()


def write(w: Watched) -> Any:
    return w.read(1).write.parquet(f"{w.root}/out")


def insert_into_a_folder(w: Watched) -> Any:
    query = f"insert overwrite directory '{w.root}/out' using parquet select * from parquet.`{w.hour(1)}`"
    return w.spark.sql(query).collect()


def create_table_as_select(w: Watched) -> Any:
    query = f"create table stolen using parquet location '{w.root}/out' as select * from parquet.`{w.hour(1)}`"
    return w.spark.sql(query).collect()


def iterate(w: Watched) -> Any:
    return list(w.read(1).toLocalIterator())


def map_in_arrow(w: Watched) -> Any:
    return w.read(1).mapInArrow(lambda batches: batches, "origin string, delay double, hour string").collect()


def text(w: Watched) -> Any:
    (w.root / "note.txt").write_text("a\n")
    return w.spark.read.text(f"{w.root}/note.txt").collect()


def csv(w: Watched) -> Any:
    (w.root / "note.csv").write_text("a\n")
    return w.spark.read.schema("a string").csv(f"{w.root}/note.csv").collect()


def schema_of_other_files(w: Watched) -> Any:
    return w.spark.read.parquet(w.hour(1)).schema


def plan_of_other_files(w: Watched) -> Any:
    return w.read(1).explain()


def names_of_other_files(w: Watched) -> Any:
    return w.read(1).inputFiles()


def new_kind_of_source(w: Watched) -> Any:
    w.spark.conf.set("spark.sql.sources.useV1SourceList", "")
    return w.read(0).collect()


def stream(w: Watched) -> Any:
    frame = w.spark.readStream.schema(ROWS).parquet(f"{w.root}/weather")
    return frame.writeStream.format("noop").trigger(once=True).start()


def stream_of_rates(w: Watched) -> Any:
    return w.spark.readStream.format("rate").load().writeStream.format("noop").trigger(once=True).start()


def add_file(w: Watched) -> Any:
    return w.spark.sql(f"add file '{w.hour(1)}/0.parquet'").collect()


def add_jar(w: Watched) -> Any:
    return w.spark.sql("add jar '/tmp/some.jar'").collect()


def add_archive(w: Watched) -> Any:
    return w.spark.sql("add archive '/tmp/some.zip'").collect()


def root(w: Watched) -> Any:
    return w.spark.read.schema(ROWS).parquet(f"{w.root}/flights").count()


def root_with_another_hour(w: Watched) -> Any:
    return w.spark.read.schema(f"{ROWS}, hour string").parquet(f"{w.root}/flights").where("hour = '01'").count()


def root_with_a_filter_of_rows(w: Watched) -> Any:
    return w.spark.read.schema(ROWS).parquet(f"{w.root}/flights").where("delay = 0").count()


def root_below_an_exchange(w: Watched) -> Any:
    w.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    mine = w.read(0).groupBy("origin").count()
    all_ = w.spark.read.schema(ROWS).parquet(f"{w.root}/flights").groupBy("origin").count()
    return mine.join(all_, "origin").collect()


def root_in_a_subquery(w: Watched) -> Any:
    w.read(0).createOrReplaceTempView("mine")
    query = f"select * from mine where delay <= (select max(delay) from parquet.`{w.root}/flights`)"
    return w.spark.sql(query).collect()


def root_cached(w: Watched) -> Any:
    cached = w.spark.read.schema(ROWS).parquet(f"{w.root}/flights").cache()
    return cached.count()


def promised_without_the_option(w: Watched) -> Any:
    return w.read(0, attempt=None).collect()


def promised_with_the_option_of_another(w: Watched) -> Any:
    return w.read(0, attempt="run-2").collect()


CHEATS = [
    other_hour,
    one_hour_too_many,
    other_dataset,
    one_file,
    pattern,
    path_in_sql,
    view,
    view_of_a_frame,
    common_table_expression,
    in_a_subquery,
    scalar_subquery,
    exists_subquery,
    beside_an_answer_of_ours,
    join,
    union,
    cache,
    cached_table,
    local_checkpoint,
    write,
    insert_into_a_folder,
    create_table_as_select,
    iterate,
    map_in_arrow,
    text,
    csv,
    schema_of_other_files,
    plan_of_other_files,
    names_of_other_files,
    new_kind_of_source,
    stream,
    stream_of_rates,
    add_file,
    add_jar,
    add_archive,
    root,
    root_with_another_hour,
    root_with_a_filter_of_rows,
    root_below_an_exchange,
    root_in_a_subquery,
    root_cached,
    promised_without_the_option,
    promised_with_the_option_of_another,
]


@pytest.mark.parametrize("cheat", CHEATS)
def test_it_is_refused_and_nothing_runs(watched: Session, cheat: Callable[[Watched], Any]) -> None:
    session = watched()
    session.promise(0)
    before = session.account["executions"]
    with pytest.raises(PySparkException, match="UNPROMISED_READ"):
        cheat(session)
    account = session.account
    views = sum(table.isTemporary for table in session.spark.catalog.listTables())  # which are made, and read nothing
    assert (account["executions"], account["scans"], account["failure"]) == (before + views, [], None)


def test_the_message_names_the_place_what_was_promised_and_the_way_out(watched: Session) -> None:
    session = watched()
    session.promise(0, 2)
    with pytest.raises(PySparkException) as caught:
        session.read(1).collect()
    (line,) = (line for line in str(caught.value).splitlines() if "UNPROMISED_READ" in line)
    assert f"UNPROMISED_READ {session.hour(1)}; promised: {session.hour(0)}, {session.hour(2)}." in line
    assert "strict=False" in line


def test_tables_and_views_of_others_are_refused(watched: Session) -> None:
    other, session = watched(), watched()
    other.spark.sql(f"create table elsewhere using parquet location '{other.root}/weather/hour=01'")
    other.read(1).createOrReplaceGlobalTempView("everywhere")
    other.spark.sql("create view named as select * from elsewhere")
    session.promise(0)
    try:
        for query in (
            "select * from elsewhere",
            "select * from global_temp.everywhere",
            "select * from named",
            "analyze table elsewhere compute statistics",
        ):
            with pytest.raises(PySparkException, match="UNPROMISED_READ"):
                session.spark.sql(query).collect()
        assert session.account["scans"] == []
    finally:
        other.spark.sql("drop view named")
        other.spark.sql("drop table elsewhere")
        other.spark.catalog.dropGlobalTempView("everywhere")


def test_what_another_session_has_cached_is_not_read(watched: Session) -> None:
    other, session = watched(), watched()
    hour = f"{other.root}/flights"
    stale = other.spark.read.schema(f"{ROWS}, hour string").parquet(hour).where("hour = '00'").cache()
    assert stale.count() == 2
    session.promise(0)
    with pytest.raises(
        PySparkException, match=r"UNPROMISED_READ another session has cached .*airflow_partitions\.attempt"
    ):
        session.spark.read.schema(f"{ROWS}, hour string").parquet(hour).where("hour = '00'").collect()
    assert session.account["executions"] == 0
    assert session.read(0).count() == 2
    stale.unpersist()


def collected(w: Watched) -> Any:
    return w.read(0).collect()


def rows_of_the_client(w: Watched) -> Any:
    return w.spark.createDataFrame([("EWR", 1)], "origin string, n int").join(w.read(0), "origin").collect()


def numbers(w: Watched) -> Any:
    return w.spark.range(3).crossJoin(w.read(0)).collect()


def cached(w: Watched) -> Any:
    frame = w.read(0).cache()
    return frame.count(), frame.groupBy("origin").count().collect(), frame.unpersist()


def checkpointed(w: Watched) -> Any:
    return w.read(0).localCheckpoint().count()


def by_sql(w: Watched) -> Any:
    w.read(0).createOrReplaceTempView("mine")
    return w.spark.sql("with t as (select * from mine) select origin, max(delay) from t group by origin").collect()


def recursive(w: Watched) -> Any:
    w.read(0).createOrReplaceTempView("mine")
    query = "with recursive t(n) as (select 1 union all select n + 1 from t where n < 3) select * from t, mine"
    return w.spark.sql(query).collect()


def written_and_read_back(w: Watched) -> Any:
    w.read(0).write.parquet(f"{w.root}/own/data")
    return w.spark.read.parquet(f"{w.root}/own/data").where("delay is null").count()


def described(w: Watched) -> Any:
    w.read(0).createOrReplaceTempView("mine")
    w.spark.catalog.listTables()
    return w.spark.sql("show tables").collect(), w.spark.sql("describe mine").collect(), w.read(0).explain()


def mapped(w: Watched) -> Any:
    return w.read(0).mapInArrow(lambda batches: batches, "origin string, delay double, hour string").collect()


def root_with_the_promised_hour(w: Watched) -> Any:
    return w.spark.read.schema(f"{ROWS}, hour string").parquet(f"{w.root}/flights").where("hour = '00'").collect()


def made_a_table(w: Watched) -> Any:
    w.read(0).write.option("path", f"{w.root}/own/table").saveAsTable("made")
    try:
        w.read(0).write.insertInto("made")
        return w.spark.table("made").where("delay is null").count()
    finally:
        w.spark.sql("drop table made")


@pytest.mark.parametrize(
    "use",
    [
        collected,
        rows_of_the_client,
        numbers,
        cached,
        checkpointed,
        by_sql,
        recursive,
        written_and_read_back,
        described,
        mapped,
        root_with_the_promised_hour,
        made_a_table,
    ],
)
def test_what_was_promised_is_read_and_counted(watched: Session, use: Callable[[Watched], Any]) -> None:
    session = watched()
    session.promise(0, own=[f"{session.root}/own"])
    use(session)
    account = session.account
    assert (account["failure"], account["unseen"]) == (None, [])
    scans = [scan for scan in account["scans"] if not scan["roots"][0].startswith(f"{session.root}/own")]
    assert {tuple(scan["locations"]) for scan in scans} <= {(session.hour(0),)}
    assert all((scan["files"], scan["rows"]) == (1, 2) for scan in scans)


def test_nothing_is_refused_without_strict(watched: Session) -> None:
    session = watched()
    session.promise(0, strict=False)
    assert session.read(1, attempt=None).count() == 2
    assert session.scans == [(["flights/hour=01"], 1, 2)]
