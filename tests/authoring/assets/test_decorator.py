"""The Dags and tasks that the decorators make."""

from __future__ import annotations

from airflow_partitions.core.definitions import PartitionByInterval, from_json
from tests.authoring.assets.conftest import DagBags


def test_a1_an_asset_is_made_with_its_dag_and_passes_arguments_on(dag_bag: DagBags) -> None:
    bag = dag_bag(
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
    definition = from_json(outlet.extra["airflow_partitions"]["definition"])
    assert definition == PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
    assert definition == dag.timetable.partition


def test_the_first_line_of_a_docstring_describes_the_dag(dag_bag: DagBags) -> None:
    bag = dag_bag(
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


def test_a1_none_is_written_out_for_an_asset_without_partitions(dag_bag: DagBags) -> None:
    bag = dag_bag(
        """
        @asset(schedule="@daily", partition=None)
        def plain(self):
            ...
        """
    )
    assert bag.import_errors == {}
    assert not bag.dags["plain"].timetable.__class__.__module__.startswith("airflow_partitions")


def test_a1_several_assets_of_one_function(dag_bag: DagBags) -> None:
    bag = dag_bag(
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


def test_a_task_decorated_function_is_taken_as_it_is(dag_bag: DagBags) -> None:
    bag = dag_bag(
        """
        @asset(schedule="@daily", partition=DAYS)
        @task(retries=5)
        def chosen(partition=None):
            ...
        """
    )
    assert bag.import_errors == {}
    (only_task,) = bag.dags["chosen"].tasks
    assert only_task.retries == 5
    assert [outlet.name for outlet in only_task.outlets] == ["chosen"]


def test_er3_tasks_that_share_the_keys_of_a_name_have_the_asset_of_these_keys_as_an_inlet(dag_bag: DagBags) -> None:
    bag = dag_bag(
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


def test_a_spark_asset_reads_the_spark_assets_it_is_scheduled_on(dag_bag: DagBags) -> None:
    bag = dag_bag(
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


def test_the_dag_of_a_file_is_serialized_the_same_every_time(dag_bag: DagBags) -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    source = """
        @spark_asset(schedule="@daily", partition=DAYS, storage=Parquet("/lake/x"))
        def x(spark, partition):
            return spark.range(1)
        """
    first, second = (DagSerialization.to_dict(dag_bag(source).dags["x"]) for _ in range(2))
    assert first == second
