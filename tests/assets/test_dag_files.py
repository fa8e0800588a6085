"""Dag files as the Dag processor reads them: what is made, and what is refused with which words."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from airflow_partitions import Partition
from airflow_partitions.definitions import PartitionByInterval, from_json

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag

HEADER = """
import datetime as dt
from airflow.sdk import DAG, Asset, task
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow_partitions import *
from airflow_partitions import (
    PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence, Partitioned, asset, spark_asset,
)
from airflow_partitions.storage import Parquet
DAYS = PartitionByInterval("@daily", start="2013-01-01")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
HELPER = 7
"""

DAYS = PartitionByInterval("@daily", start="2013-01-01")
EXAMPLES = Path(__file__).parents[2] / "dags"


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def parse(source: str) -> DagBag:
        from airflow.dag_processing.dagbag import DagBag

        (tmp_path / "case.py").write_text(HEADER + textwrap.dedent(source))
        return DagBag(str(tmp_path))

    return parse


def test_a1_an_asset_is_made_with_its_dag_and_passes_arguments_on(read: Any) -> None:
    bag = read(
        """
        @asset(schedule="@daily", partition=HOURS, max_active_runs=3, max_active_tasks=2, tags={"x"}, pool="small",
               default_args={"retries": 2}, start_date=dt.datetime(2013, 1, 1, tzinfo=dt.timezone.utc), group="g",
               extra={"owner": "me"}, description="said")
        def hourly(self, partition):
            ...
        """
    )
    assert bag.import_errors == {}
    dag = bag.dags["hourly"]
    (task,) = dag.tasks
    assert (dag.max_active_runs, dag.max_active_tasks, dag.tags, dag.catchup) == (3, 2, {"x", "partitioned"}, False)
    assert (dag.description, dag.start_date.year) == ("said", 2013)
    assert (task.task_id, task.pool, task.retries) == ("hourly", "small", 2)
    (outlet,) = task.outlets
    assert (outlet.name, outlet.group, outlet.extra["owner"]) == ("hourly", "g", "me")
    read_extra = from_json(outlet.extra["airflow_partitions"]["definition"])
    assert read_extra == PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
    assert read_extra == dag.timetable.partition


def test_the_first_line_of_a_docstring_describes_the_dag(read: Any) -> None:
    bag = read(
        """
        @asset(schedule="@daily", partition=DAYS)
        def plain(partition):
            '''A day.

            Of all shops: see README.md'''

        @asset(schedule="@daily", partition=DAYS)
        @task(retries=5)
        def decorated(partition=None):
            '''A task's day.'''

        @asset(schedule="@daily", partition=DAYS)
        def silent(partition):
            ...

        @asset.multi(schedule="@daily", partition=DAYS, outlets=[Asset("a"), Asset("b")])
        def both(partition):
            '''Two of a day.'''
        """
    )
    assert bag.import_errors == {}
    assert bag.dags["plain"].doc_md == "A day.\n\nOf all shops: see README.md\n"
    assert all("partitioned" in dag.tags for dag in bag.dags.values())
    descriptions = {name: dag.description for name, dag in bag.dags.items()}
    assert descriptions == {"plain": "A day.", "decorated": "A task's day.", "silent": None, "both": "Two of a day."}


@pytest.mark.parametrize(("name", "tags"), [("aip", {"partitioned", "aip-76"}), ("flights.py", {"partitioned"})])
def test_eu_the_examples_of_the_aip_can_be_told_from_others_by_a_tag(name: str, tags: set[str]) -> None:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(str(EXAMPLES / name))
    assert bag.import_errors == {}
    assert {dag_id: dag.tags for dag_id, dag in bag.dags.items()} == dict.fromkeys(bag.dags, tags)
    assert bag.dags


def test_a1_none_is_written_out_for_an_asset_without_partitions(read: Any) -> None:
    bag = read(
        """
        @asset(schedule="@daily", partition=None)
        def plain(self):
            ...
        """
    )
    assert bag.import_errors == {}
    assert not bag.dags["plain"].timetable.__class__.__module__.startswith("airflow_partitions")


def test_a1_several_assets_of_one_function(read: Any) -> None:
    bag = read(
        """
        @asset.multi(schedule="@daily", partition=DAYS, outlets=[Asset("one"), Asset("two")])
        def both(partition):
            ...
        """
    )
    assert bag.import_errors == {}
    (task,) = bag.dags["both"].tasks
    assert [(outlet.name, "airflow_partitions" in outlet.extra) for outlet in task.outlets] == [
        ("one", True),
        ("two", True),
    ]


def test_a_task_decorated_function_is_taken_as_it_is(read: Any) -> None:
    bag = read(
        """
        @asset(schedule="@daily", partition=DAYS)
        @task(retries=5)
        def chosen(partition=None):
            ...
        """
    )
    assert bag.import_errors == {}
    (made,) = bag.dags["chosen"].tasks
    assert made.retries == 5
    assert [outlet.name for outlet in made.outlets] == ["chosen"]


def test_er3_tasks_that_share_the_keys_of_a_name_have_the_asset_of_these_keys_as_an_inlet(read: Any) -> None:
    bag = read(
        """
        active = PartitionAtRuntime(name="active")

        @asset(schedule=None, partition=active)
        def customers(): ...

        @asset(schedule=customers, partition=active)
        def scores(customers): ...

        with DAG("mails", schedule=Partitioned(customers, active)):
            BashOperator.partial(task_id="mail").expand(bash_command=["x"])
        """
    )
    assert bag.import_errors == {}
    inlets = {dag_id: [inlet.name for task in dag.tasks for inlet in task.inlets] for dag_id, dag in bag.dags.items()}
    assert inlets == {
        "customers": ["keys of active"], "scores": ["customers", "keys of active"], "mails": ["keys of active"]
    }  # fmt: skip


@pytest.mark.parametrize("parameter", ["partition", "partition=None", "*, partition", "*, partition=None"])
@pytest.mark.parametrize("decorators", ["@asset({0})", "@asset({0})\n        @task", "@asset.multi(outlets=TWO, {0})"])
def test_er4_partition_is_passed_with_and_without_a_default(read: Any, parameter: str, decorators: str) -> None:
    decorators = decorators.format("schedule=None, partition=DAYS")
    bag = read(
        f"""
        TWO = [Asset("one"), Asset("two")]

        {decorators}
        def made({parameter}):
            return partition
        """
    )
    assert bag.import_errors == {}
    (task,) = bag.dags["made"].tasks
    assert returned(task) == Partition(DAYS, "2013-02-08")


def test_er4_partition_is_passed_to_mapped_and_virtualenv_tasks_with_and_without_a_default(read: Any) -> None:
    bag = read(
        """
        with DAG("made", schedule=Partitioned("@daily", DAYS)):
            @task
            def one(number, partition):
                return partition

            @task
            def two(number, partition=None):
                return partition

            @task
            def own(partition):
                return partition

            @task.external_python(python="/usr/bin/python3")
            def outside(partition=None):
                return partition

            one.expand(number=[1])
            two.partial(number=1).expand_kwargs([{}])
            own.expand(partition=["mine"])
            own.override(task_id="given")(partition="mine")
            outside()
        """
    )
    assert bag.import_errors == {}
    tasks = {task.task_id: task for task in bag.dags["made"].tasks}
    for name in ("one", "two"):
        operator = tasks[name].unmap({"op_kwargs": {"number": 1} if name == "one" else {}})
        assert returned(operator) == Partition(DAYS, "2013-02-08")
    assert returned(tasks["own"].unmap({"op_kwargs": {"partition": "mine"}})) == returned(tasks["given"]) == "mine"
    entered(tasks["outside"])
    assert tasks["outside"].op_kwargs == {"partition": Partition(DAYS, "2013-02-08")}


def entered(task: Any) -> dict[str, Any]:
    """The context of a task whose run has entered its partition, as far as the function is concerned."""
    from airflow_partitions.runs.partition_argument import pass_partition

    partition = Partition(DAYS, "2013-02-08")
    pass_partition(task, partition)
    return {"partition": partition}


def returned(task: Any) -> Any:
    """What the function of a Python task returns in a run."""
    from airflow.sdk.definitions.context import context_merge

    context: Any = entered(task)
    context_merge(context, task.op_kwargs)
    return task.python_callable(*task.op_args, **task.determine_kwargs(context))


def test_a_spark_asset_reads_the_spark_assets_it_is_scheduled_on(read: Any) -> None:
    bag = read(
        """
        @spark_asset(schedule=None, partition=HOURS, storage=Parquet("/lake/hours"))
        def hours(spark, partition):
            return spark.range(1)

        @spark_asset(schedule=hours, storage=Parquet("/lake/days"), rules={"hours": Lookback(1)},
                     partition=PartitionByInterval("@daily", timezone="America/New_York"))
        def days(spark, partition, hours):
            return hours.groupBy().count()

        @spark_asset(schedule=Asset.ref(name="hours"), storage=Parquet("/lake/named"), upstreams={"hours": HOURS},
                     rules={"hours": Lookback(2)}, partition=PartitionByInterval("@daily"))
        def named(spark, partition):
            return spark.range(1)
        """
    )
    assert bag.import_errors == {}
    (task,) = bag.dags["days"].tasks
    assert {name: storage.path for name, storage in task.inputs.items()} == {"hours": "/lake/hours"}
    assert [str(rule) for rule in task.rules.values()] == ["Lookback(n=1, of='upstream')"]
    mapper = bag.dags["named"].timetable.get_partition_mapper(name="hours")
    assert len(mapper.to_upstream("2013-02-08")) == 24 + 2


def test_the_dag_of_a_file_is_serialized_the_same_every_time(read: Any) -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    source = """
        @spark_asset(schedule="@daily", partition=DAYS, storage=Parquet("/lake/x"))
        def x(spark, partition):
            return spark.range(1)
        """
    first, second = (DagSerialization.to_dict(read(source).dags["x"]) for _ in range(2))
    assert first == second


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
    ("source", "said"),
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
        (DECORATED.format('schedule=Asset("unknown"), partition=DAYS', ""), "upstreams={'unknown'"),
        (DECORATED.format('schedule=Asset.ref(uri="s3://x"), partition=DAYS', ""), "Asset.ref(name=…)"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"a": PartitionBySequence(["x"])}', ""),
         "neither a time dimension nor a time schedule"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"b": DAYS}', ""), "upstreams for b"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"a": DAYS}, rerun="often"', ""), "'always'"),
        (DECORATED.format('schedule=Asset("a"), partition=DAYS, upstreams={"a": DAYS}, max_wait="1y"', ""), "'30min'"),
        (DECORATED.format('schedule="@daily", partition=DAYS, max_wait="2h"', ""), "go with assets"),
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
def test_er18_what_cant_work_is_an_import_error_that_names_the_fix(read: Any, source: str, said: str) -> None:
    bag = read(source)
    assert bag.dags == {}
    (error,) = bag.import_errors.values()
    assert said in error


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (PLAIN.format("", "").replace("DAYS)", "DAYS, asset=Asset('flights'))"), "outlets=[Asset('flights')]"),
        (
            PLAIN.format("", ", outlets=[Asset('flight')]").replace("DAYS)", "DAYS, asset=Asset('flights'))"),
            "outlets=[Asset('flights')]",
        ),
        (PLAIN.format("", "").replace("DAYS)", "DAYS, asset='flights')"), "asset='flights' is not an asset"),
    ],
)
def test_eu1_an_asset_that_no_task_completes_is_an_import_error(read: Any, source: str, said: str) -> None:
    (error,) = read(source).import_errors.values()
    assert said in error


TWO_ON_ONE_PATH = """
@spark_asset(schedule=None, partition=DAYS, storage=Parquet("/lake/same"))
def one(spark):
    return spark.range(1)

@spark_asset(schedule=None, partition=DAYS, storage=Parquet("/lake/same/"){0})
def two(spark):
    return spark.range(1)
"""


def test_eu6_two_assets_on_one_path_are_an_import_error(read: Any) -> None:
    (error,) = read(TWO_ON_ONE_PATH.format("")).import_errors.values()
    assert "assets 'one' and 'two' are both stored at '/lake/same'" in error


def test_eu6_two_dags_may_make_one_asset(read: Any) -> None:
    assert read(TWO_ON_ONE_PATH.format(", name='one', dag_id='second'")).import_errors == {}


def test_eu1_any_task_may_complete_the_asset(read: Any) -> None:
    bag = read(
        PLAIN.format("", ", outlets=[Asset('flights')]").replace("DAYS)", "DAYS, asset=Asset('flights'))")
        + "    EmptyOperator(task_id='more')"
    )
    assert (bag.import_errors, list(bag.dags)) == ({}, ["plain"])


STORED = 'schedule="@daily", partition=DAYS, storage='


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (SPARK.format(STORED + '"/lake/x"', "spark", "return spark.range(1)"), "Parquet('/lake/x')"),
        (SPARK.format(STORED + 'Parquet("/x", partition_on=["time"])', "spark", "return spark.range(1)"),
         "expected each column with its format"),
        (SPARK.format(STORED + 'Parquet("/x", partition_on="time")', "spark", "return spark.range(1)"),
         "expected each column with its format"),
        (SPARK.format(STORED + 'Parquet("/x"), rules=Lookback(2)', "spark", "return spark.range(1)"),
         "rules={'flights': …}"),
        (PLAIN.format("", "").replace('"@daily", DAYS', "Asset('a'), DAYS, rules=Lookback(2)"), "rules={'flights': …}"),
        (SPARK.format(STORED + 'Parquet("/x"), inputs=[Parquet("/y")]', "spark", "return spark.range(1)"),
         "inputs={'flights': …}"),
        (SPARK.format(STORED + 'Parquet("/x", partition="@hourly")', "spark", "return spark.range(1)"),
         "PartitionByInterval('@hourly')"),
    ],
)  # fmt: skip
def test_eu10_what_a_newcomer_writes_is_answered_with_the_form_that_is_meant(read: Any, source: str, said: str) -> None:
    (error,) = read(source).import_errors.values()
    assert said in error


@pytest.mark.parametrize(
    ("source", "said"),
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
def test_eu11_what_the_file_shows_is_told_when_it_is_read(read: Any, source: str, said: str) -> None:
    (error,) = read(source).import_errors.values()
    assert said in error


def test_eu11_what_may_be_right_is_left_alone(read: Any) -> None:
    bag = read(
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
    ("source", "said"),
    [
        (HOURLY + "plain = DAG('plain', schedule=hourly)", "never starts a Dag without"),
        (HOURLY + "plain = DAG('plain', schedule=hourly & Asset('other'))", "never starts a Dag without"),
        (HOURLY + "@asset(schedule=hourly, partition=None)\ndef plain(): ...", "never starts a Dag without"),
        (CIRCLE, "waits for itself"),
        (MIXED, "Start plain by TriggerDagRunOperator in both"),
        (MIXED_TOO, "Start plain by TriggerDagRunOperator in both"),
    ],
)
def test_er5_what_never_runs_is_an_import_error(read: Any, source: str, said: str) -> None:
    (error,) = read(source).import_errors.values()
    assert said in error
