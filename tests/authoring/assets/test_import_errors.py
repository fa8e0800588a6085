"""Dag files that are refused, with which words, and some that are not."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.authoring.assets.conftest import DagBags

DECORATED = """
@asset({0})
def decorated({1}):
    ...
"""
SPARK = """
@spark_asset({0})
def spark_made({1}):
    {2}
"""
HOURLY = """
@asset(schedule="@daily", partition=DAYS)
def hourly(): ...

"""
CIRCLE = """
@asset(schedule=Asset.ref(name="second"), upstreams={"second": DAYS}, partition=DAYS)
def first(): ...

@asset(schedule=first, partition=DAYS)
def second(): ...
"""
BOTH = """
@asset.multi(schedule="@daily", partition=DAYS, outlets=[Asset("parts")])
def parts(): ...

with DAG("both", schedule=Partitioned("@daily", DAYS)):
    EmptyOperator(task_id="write", outlets=[parts.objects[0], Asset("beside")])
"""
CONSUMER = """
with DAG("plain", schedule=Asset("other") & Asset("beside")):
    EmptyOperator(task_id="nothing")
"""
MIXED, MIXED_TOO = BOTH + CONSUMER, CONSUMER + BOTH
PLAIN = """
with DAG("plain", schedule=Partitioned("@daily", DAYS){0}):
    EmptyOperator(task_id="nothing"{1})
"""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (DECORATED.format('schedule="@daily"', ""), "partition= is missing; write the partitions, for example"),
        (SPARK.format('schedule="@daily", storage=Parquet("/x")', "spark", "..."), "partition= is missing"),
        ("@asset.multi(schedule=None, outlets=[Asset('a')])\ndef several(): ...", "partition= is missing"),
        (DECORATED.format('schedule=None, partition=DAYS, catchup=True', ""), "Ask for a backfill"),
        (DECORATED.format('schedule=None, partition=DAYS, retries=2', ""), "default_args={'retries': …}"),
        (DECORATED.format('schedule=None, partition=DAYS, tag=["x"]', ""), "'tag' is no argument here; nearest: tags"),
        (DECORATED.format('schedule=None, partition=DAYS, timezone="UTC"', ""), "PartitionByInterval(…, timezone=…)"),
        (DECORATED.format('schedule="@daily", partition="@daily"', ""), "is not a partition definition"),
        (DECORATED.format('schedule="@daily", partition=None, refresh=2', ""), "need a partition"),
        (DECORATED.format('schedule="@daily", partition=PartitionBySequence(["a"]), refresh=2', ""), "refresh=2"),
        ("DAG('x', schedule=Partitioned('@daily', PartitionAtRuntime(name='x')))", "Add the keys in an @asset("),
        (DECORATED.format('schedule="@daily", partition=PartitionAtRuntime(name="x"), refresh=1', ""), "refresh"),
        (DECORATED.format('schedule="@daily", partition=PartitionByInterval("@dayly")', ""), "'@dayly'"),
        (DECORATED.format('schedule="@daily", partition=PartitionByInterval("@daily", timezone="Europe/Berln")', ""),
         "Europe/Berlin"),
        (DECORATED.format('schedule="@daily", partition=PartitionBySequence([str(i) for i in range(1001)])', ""),
         "max_sequence_length"),
        (DECORATED.format('schedule="@daily", partition=DAYS', "*args"), "can't be filled in"),
        ("@asset\ndef bare(): ...", "@asset(schedule='@daily', partition="),
        (DECORATED.format('"@daily", partition=DAYS', ""), "'@daily' has no name"),
        (DECORATED.format('schedule="@daily", partition=["a", "b"]', ""), "PartitionBySequence(['a', 'b'])"),
        (DECORATED.format('schedule=Asset("unknown"), partition=DAYS', ""), "upstreams={'unknown'"),
        (DECORATED.format('schedule=Asset.ref(uri="s3://x"), partition=DAYS', ""), "Asset.ref(name=…)"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"a": PartitionBySequence(["x"])}', ""),
         "neither a time dimension nor a time schedule"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"b": DAYS}', ""), "upstreams for b"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"a": DAYS}, rerun="often"', ""), "'always'"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"a": DAYS}, max_wait="1y"', ""), "'30min'"),
        (DECORATED.format('schedule="@daily", partition=DAYS, max_wait="2h"', ""), "go with assets"),
        (DECORATED.format('schedule="@daily", partition=DAYS, at="06:00"', ""), "go with assets"),
        (DECORATED.format('schedule=Asset("a"), partition=None, at="06:00"', ""), "need a partition"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"a": DAYS}, at="6"', ""), "at='6' is no"),
        (DECORATED.format('schedule=Asset("a"), partition=PartitionBySequence(["x"]), upstreams={"a": '
                          'PartitionBySequence(["x"])}, at="06:00"', ""), "expected partitions with a time dimension"),
        (DECORATED.format('schedule=Asset("a"), partition=PartitionByInterval("* * * * *"), '
                          'upstreams={"a": PartitionByInterval("@yearly")}', ""), "would make 527,040 partitions"),
        (DECORATED.format('schedule="@daily", partition=DAYS, upstreams={"a": DAYS}', ""), "go with assets"),
        (PLAIN.format("", ", depends_on_past=True"), "Lookback"),
        (PLAIN.format(', default_args={"wait_for_downstream": True}', ""), "wait_for_downstream=True has no effect"),
        (SPARK.format('schedule="@daily", partition=None, storage=Parquet("/x")', "spark", "..."), "partition=None"),
        (SPARK.format('schedule=None, partition=PartitionAtRuntime(name="x"), storage=Parquet("/x")', "spark", "..."),
         "no key before a task runs"),
        (SPARK.format('schedule=None, partition=DAYS, storage=Parquet("/x"), rules={"y": Lookback(1)}', "spark", "..."),
         "rules for y"),
        (SPARK.format('schedule="@daily", partition=DAYS, storage=Parquet("/x")', "spark", "return HELPER"), "HELPER"),
        (SPARK.format('schedule="@daily", partition=DAYS, storage=Parquet("/x")', "spark, flights", "return flights"),
         "flights"),
        (SPARK.format('schedule="@daily", partition=HOURS, storage=Parquet("/x", partition_on={"hour": "%Y-%m-%dT%H"})',
                      "spark", "return spark.range(1)"), "%z"),
        (SPARK.format('schedule="@daily", partition=PartitionBySequence(["a"]), storage=Parquet("/x"), '
                      'inputs={"r": Parquet("/r", partition=PartitionBySequence(["b"]))}', "r", "return r"),
         "share no value"),
    ],
)  # fmt: skip
def test_er18_what_cant_work_is_an_import_error_that_names_the_fix(dag_bag: DagBags, source: str, message: str) -> None:
    bag = dag_bag(source)
    assert bag.dags == {}
    (error,) = bag.import_errors.values()
    assert message in error


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (PLAIN.format("", "").replace("DAYS)", "DAYS, asset=Asset('flights'))"), "outlets=[Asset('flights')]"),
        (
            PLAIN.format("", ", outlets=[Asset('flight')]").replace("DAYS)", "DAYS, asset=Asset('flights'))"),
            "outlets=[Asset('flights')]",
        ),
        (PLAIN.format("", "").replace("DAYS)", "DAYS, asset='flights')"), "asset='flights' is not an asset"),
    ],
)
def test_eu1_an_asset_that_no_task_completes_is_an_import_error(dag_bag: DagBags, source: str, message: str) -> None:
    (error,) = dag_bag(source).import_errors.values()
    assert message in error


TWO_ON_ONE_PATH = """
@spark_asset(schedule=None, partition=DAYS, storage=Parquet("/lake/same"))
def one(spark):
    return spark.range(1)

@spark_asset(schedule=None, partition=DAYS, storage=Parquet("/lake/same/"){0})
def two(spark):
    return spark.range(1)
"""


def test_eu6_two_assets_on_one_path_are_an_import_error(dag_bag: DagBags) -> None:
    (error,) = dag_bag(TWO_ON_ONE_PATH.format("")).import_errors.values()
    assert "assets 'one' and 'two' are both stored at '/lake/same'" in error


def test_eh6_two_assets_of_one_name_are_an_import_error(dag_bag: DagBags) -> None:
    source = """
        @asset(schedule="@daily", partition=DAYS, name="dup")
        def one(): ...

        @asset(schedule="@daily", partition=PartitionByInterval("@hourly", name="hour"), name="dup"{0})
        def two(): ...
    """
    (error,) = dag_bag(dedent(source.format(""))).import_errors.values()
    assert "one and two both make a Dag 'dup', of which one would be lost; expected another name= or dag_id=" in error
    assert dag_bag(dedent(source.format(', dag_id="other"'))).import_errors == {}


def test_eu6_two_dags_may_make_one_asset(dag_bag: DagBags) -> None:
    assert dag_bag(TWO_ON_ONE_PATH.format(", name='one', dag_id='second'")).import_errors == {}


def test_f5_what_is_read_of_another_asset_of_the_file_by_its_path_is_compared(dag_bag: DagBags) -> None:
    source = """
        from typing import Annotated
        import pandas as pd

        @spark_asset(schedule=None, partition=DAYS, storage=Parquet("/lake/fares", schema={"fare": "double"}))
        def fares(spark):
            return spark.range(1)

        @spark_asset(schedule=None, partition=DAYS, storage=Parquet("/lake/report"),
                     inputs={"paid": Parquet("/lake/fares", partition=DAYS)})
        def report(spark, paid: Annotated[pd.DataFrame, {COLUMNS}]):
            return paid
        """
    assert dag_bag(source.replace("COLUMNS", "'fare': float, 'time': str")).import_errors == {}
    (error,) = dag_bag(source.replace("COLUMNS", "'fares': None")).import_errors.values()
    assert "asset 'report' can't read its input 'paid' from what asset 'fares' stores" in error
    assert "there is no column 'fares' in '/lake/fares'; did you mean 'fare'?" in error


def test_eu1_any_task_may_complete_the_asset(dag_bag: DagBags) -> None:
    bag = dag_bag(
        PLAIN.format("", ", outlets=[Asset('flights')]").replace("DAYS)", "DAYS, asset=Asset('flights'))")
        + "    EmptyOperator(task_id='more')"
    )
    assert (bag.import_errors, list(bag.dags)) == ({}, ["plain"])


STORED = 'schedule="@daily", partition=DAYS, storage='


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (SPARK.format(STORED + '"/lake/x"', "spark", "return spark.range(1)"), "Parquet('/lake/x')"),
        (SPARK.format(STORED + 'Parquet("/x", partition_on=["time"])', "spark", "return spark.range(1)"),
         "expected each column with its format"),
        (SPARK.format(STORED + 'Parquet("/x", partition_on="time")', "spark", "return spark.range(1)"),
         "expected each column with its format"),
        (SPARK.format(STORED + 'Parquet("/x", schema=["n"])', "spark", "return spark.range(1)"),
         "expected each column with its type"),
        (SPARK.format(STORED + 'Parquet("/x", options="header")', "spark", "return spark.range(1)"),
         "expected each option with its value"),
        (SPARK.format(STORED + 'Parquet("/x"), rules=Lookback(2)', "spark", "return spark.range(1)"),
         "rules={'flights': …}"),
        (PLAIN.format("", "").replace('"@daily", DAYS', "Asset('a'), DAYS, rules=Lookback(2)"), "rules={'flights': …}"),
        (SPARK.format(STORED + 'Parquet("/x"), inputs=[Parquet("/y")]', "spark", "return spark.range(1)"),
         "inputs={'flights': …}"),
        (SPARK.format(STORED + 'Parquet("/x", partition="@hourly")', "spark", "return spark.range(1)"),
         "PartitionByInterval('@hourly')"),
    ],
)  # fmt: skip
def test_eu10_what_a_newcomer_writes_is_answered_with_the_form_that_is_meant(
    dag_bag: DagBags, source: str, message: str
) -> None:
    (error,) = dag_bag(source).import_errors.values()
    assert message in error


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (DECORATED.format('schedule="@daily", partition=DAYS', "partitoin"), "did you mean 'partition'?"),
        (DECORATED.format('schedule="@daily", partition=DAYS', "contxt"), "did you mean 'context'?"),
        (SPARK.format(STORED + 'Parquet("/x")', "spark", "spark.range(1)"), "return …"),
        (SPARK.format(STORED + 'Parquet("/x", schema={"a": "strnig"})', "spark", "return spark.range(1)"), "string"),
        (PLAIN.format("", ", doc_md=''") + "    BashOperator(task_id='b', bash_command='load {{ ds }}')",
         "{{ partition.start | ds }}"),
        (PLAIN.format(", user_defined_filters={'short': str}", "")
         + "    BashOperator(task_id='b', bash_command='load {{ ds | short }}')", "{{ partition.start | ds }}"),
        (PLAIN.format("", "")
         + "    BashOperator(task_id='b', bash_command='x', env={'D': '{{ macros.ds_add(ds, 1) }}'})",
         "{{ partition.start | ds }}"),
        (PLAIN.format("", "")
         + "    BashOperator.partial(task_id='b', env={'D': '{{ data_interval_end }}'}).expand(bash_command=['x'])",
         "{{ partition.end }}"),
    ],
)  # fmt: skip
def test_eu11_what_the_file_shows_is_told_when_it_is_read(dag_bag: DagBags, source: str, message: str) -> None:
    (error,) = dag_bag(source).import_errors.values()
    assert message in error


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("@task\n    def load(ds=None): ...\n    load()", "asks for 'ds'"),
        ("@task\n    def load(x, data_interval_end=None): ...\n    load(1)", "partition.end"),
        ("@task\n    def load(x, logical_date=None): ...\n    load.expand(x=[1, 2])", "partition.start"),
        ("def load(ts=None): ...\n    PythonOperator(task_id='load', python_callable=load)", "asks for 'ts'"),
    ],
)
def test_en6_an_argument_that_would_be_none_is_told(dag_bag: DagBags, task: str, message: str) -> None:
    (error,) = dag_bag(f"with DAG('shared', schedule=Partitioned('@daily', DAYS)):\n    {task}").import_errors.values()
    assert "shared.load" in error
    assert message in error


def test_en6_an_argument_that_is_given_is_left_alone(dag_bag: DagBags) -> None:
    bag = dag_bag(
        """
        with DAG("shared", schedule=Partitioned("@daily", DAYS)):
            @task
            def load(ds=None, partition=None): ...

            load(ds="2013-02-01")
            load("2013-02-01")
            load.expand_kwargs([{"ds": "2013-02-01"}])
            PythonOperator.partial(task_id="kwargs", python_callable=load.function).expand(op_kwargs=[{"ds": 1}])
            PythonOperator.partial(task_id="args", python_callable=load.function).expand(op_args=[["2013-02-01"]])
            PythonOperator(task_id="place", python_callable=load.function, op_args=["2013-02-01"])
            PythonOperator(task_id="given", python_callable=lambda ts: None, op_kwargs={"ts": 1})

        with DAG("plain", schedule="@daily"):
            @task
            def load(ds=None): ...

            load()
        """
    )
    assert bag.import_errors == {}


def test_eu11_what_may_be_right_is_left_alone(dag_bag: DagBags) -> None:
    bag = dag_bag(
        """
        @asset(schedule=None, partition=DAYS)
        def partitions(): ...

        @asset(schedule=partitions, partition=DAYS)
        def counts(partition, partitions, weather): ...

        with DAG("shared", schedule=Partitioned("@daily", DAYS), user_defined_macros={"ts": "mine"},
                 user_defined_filters={"short": str}):
            BashOperator(task_id="a", bash_command="{{ ds | default('') }} {{ ts }} {{ partition.start | ds }} of ds")
            BashOperator(task_id="b", bash_command="{% set ds = 1 %}{{ ds }} {{ '{' }}")
            BashOperator(task_id="c", bash_command="{% if ts_nodash is defined %}{{ ts_nodash }}{% endif %}")
            BashOperator(task_id="d", bash_command="{{ ds")
            BashOperator(task_id="e", bash_command="{{ partition.start | ds }} {{ partition | short }}")

        with DAG("plain", schedule="@daily"):
            BashOperator(task_id="a", bash_command="{{ ds }}")

        @spark_asset(schedule="@daily", partition=DAYS, storage=Parquet("/x", schema={
            "a": "Decimal(10, 2)", "b": "array<struct<c:string>>", "d": "varchar(3)"}))
        def unfinished(spark, partition):
            raise NotImplementedError
        """
    )
    assert bag.import_errors == {}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (HOURLY + "plain = DAG('plain', schedule=hourly)", "never starts a Dag without"),
        (HOURLY + "plain = DAG('plain', schedule=hourly & Asset('other'))", "never starts a Dag without"),
        (HOURLY + "@asset(schedule=hourly, partition=None)\ndef plain(): ...", "never starts a Dag without"),
        (CIRCLE, "waits for itself"),
        (MIXED, "Start plain by TriggerDagRunOperator in both"),
        (MIXED_TOO, "Start plain by TriggerDagRunOperator in both"),
    ],
)
def test_er5_what_never_runs_is_an_import_error(dag_bag: DagBags, source: str, message: str) -> None:
    (error,) = dag_bag(source).import_errors.values()
    assert message in error
