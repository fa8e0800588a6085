"""Runs one Airflow task of the operator, without Airflow's services: ``python task.py ROOT TRY FUNCTION``."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[2]))

import conftest  # type: ignore[import-not-found]

RUN = SimpleNamespace(run_after=datetime(2013, 2, 9, tzinfo=UTC))


def plain(partition: Any, flights: Any) -> Any:
    """A try that nobody disturbs."""
    return flights.where(flights.origin == partition["airport"]).selectExpr("'whole' as made").limit(1)


def waiting(spark: Any, flights: Any) -> Any:
    """A try that says that it runs, and goes on only when told."""
    import json
    import os
    import time
    from pathlib import Path

    root = Path(flights.inputFiles()[0].removeprefix("file://")).parents[2]
    handover = json.loads(spark.sparkContext.getConf().get("spark.airflow_partitions.handover"))
    note = {"driver": os.getpid(), "submit": os.getppid(), "staging": handover["output"]["staging"]}
    started = root / f"started-{handover['run']['number']}"
    started.with_suffix(".part").write_text(json.dumps(note))
    started.with_suffix(".part").rename(started)
    while not (root / "go").exists():
        time.sleep(0.1)
    try:
        return spark.createDataFrame([("orphan",)], "made string")
    except Exception:  # the submit process is gone, and Spark with it: what plain Python can still do
        import pyarrow as pa
        import pyarrow.parquet as pq

        data = Path(note["staging"]) / "data"
        data.mkdir()
        pq.write_table(pa.table({"made": ["orphan"]}), data / "part-0.parquet")
        raise


def main() -> None:
    """Run it, and print the asset event's extra."""
    from airflow.sdk import Asset

    from airflow_partitions import Partition
    from airflow_partitions.spark.operator import SparkAssetOperator
    from airflow_partitions.spark.source import ship

    lake, number = conftest.Lake(Path(sys.argv[1])), int(sys.argv[2])
    asset, events = Asset("delays"), conftest.Events()
    task = SparkAssetOperator(
        task_id="delays",
        asset=asset,
        outlets=[asset],
        storage=lake.delays,
        inputs={"flights": lake.flights},
        function=ship(globals()[sys.argv[3]], inputs=["flights"]),
        conf={"spark.ui.enabled": "false"},
    )
    instance = SimpleNamespace(dag_id="dag", run_id="run", try_number=number)
    partition = Partition(lake.delays.partition, "2013-01-02|EWR")
    task.execute({"partition": partition, "ti": instance, "outlet_events": events, "dag_run": RUN})  # type: ignore[typeddict-item]
    sys.stdout.write(f"{events[asset].extra}\n")


if __name__ == "__main__":
    os.environ.setdefault("AIRFLOW_CONN_SPARK_DEFAULT", conftest.CONNECTION)
    main()
