"""Dags of ours beside Dags with Airflow's own partition mappers, for the benchmarks on Airflow's database.

Both wait for the 24 hours of a day in UTC, each side with keys as it writes them.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset, PartitionedAssetTimetable, RollupMapper, StartOfDayMapper
from airflow.sdk.definitions.partition_mappers.window import DayWindow

from airflow_partitions import PartitionByInterval, Partitioned

HOURS = PartitionByInterval("@hourly")
ROLLUP = RollupMapper(upstream_mapper=StartOfDayMapper(), window=DayWindow())


def ours(asset: str, schedule: str) -> Partitioned:
    return Partitioned(Asset(asset), PartitionByInterval(schedule), upstreams={asset: HOURS})


def native(asset: str) -> PartitionedAssetTimetable:
    return PartitionedAssetTimetable(assets=Asset(asset), default_partition_mapper=ROLLUP)


for n in range(10):
    with DAG(f"ours_{n}", schedule=ours("ours", "@daily")):
        EmptyOperator(task_id="nothing")
    with DAG(f"native_{n}", schedule=native("native")):
        EmptyOperator(task_id="nothing")

for name, schedule in {
    "waiting_ours": ours("waited_for", "@daily"),
    "waiting_native": native("waited_for_natively"),
    "waiting_year": ours("waited_for", "@yearly"),
}.items():
    with DAG(name, schedule=schedule):
        EmptyOperator(task_id="nothing")

with DAG("producer", schedule=Partitioned(None, HOURS)):
    EmptyOperator(task_id="nothing", outlets=[Asset("waited_for")])
