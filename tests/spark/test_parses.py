"""One lap of a key: from the run to its task, to the driver, and to the event."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from airflow_partitions import Dependency, PartitionByInterval, PartitionByProduct
from airflow_partitions.engine.ledger.addresses import keys_of
from airflow_partitions.engine.runs.pre_execute import partition_of
from airflow_partitions.spark import job
from airflow_partitions.spark.driver import run
from airflow_partitions.spark.shipping import ship
from tests.spark.operator_task import context, task
from tests.spark.submissions import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("airflow"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

KEY = "2013-01-02|EWR"


def joined(flights: Any, weather: Any) -> Any:
    return flights.select("origin").limit(1).crossJoin(weather.selectExpr("sum(delay) as delay"))


def test_a_process_parses_the_text_of_a_key_once(
    spark: SparkSession, lake: Any, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    parses: list[str] = []
    parse = PartitionByProduct.parse

    def counted(self: PartitionByProduct, text: str) -> Any:
        parses.append(text)
        return parse(self, text)

    monkeypatch.setattr(PartitionByProduct, "parse", counted)

    def drive(handover: Any) -> None:
        assert parses == [KEY, KEY]  # in the task, and here
        with job(handover, spark) as current:
            run(current)

    cluster.job = drive
    inputs = {"flights": lake.flights, "weather": lake.flights}
    operator = task(lake, inputs=inputs, function=ship(joined, inputs=list(inputs)))
    own = context(lake)
    after = own["dag_run"].run_after
    own["dag_run"] = SimpleNamespace(partition_key=KEY, run_id="run", run_after=after, start_date=after)
    own["dag"] = SimpleNamespace(timetable=SimpleNamespace(partition=lake.delays.partition), tasks=[])
    parses.clear()
    own["partition"] = partition_of(own)
    operator.execute(own)
    (key,) = keys_of(lake.delays.partition, KEY)
    weeks = PartitionByInterval("@weekly", timezone="America/New_York")
    assert len(Dependency(weeks, lake.delays.partition).downstream(key)) == 1
    assert parses == [KEY] * 3
    assert len(lake.rows(KEY)) == 1
