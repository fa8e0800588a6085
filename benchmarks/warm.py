"""What a small Spark partition costs in a real Airflow: an empty task, a submit, and a running Spark Connect server.

Each way is a Dag of its own, and its tasks run one at a time; then many partitions of both ways are made at once. The
seconds of a task are those of its process, from fork to end, and its processor time is that of the process and of all
it has started and waited for; that of the server is read before and after.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from airflow_partitions import PartitionByInterval
from airflow_partitions.spark.server.connect_server import ConnectServer
from benchmarks.task_costs import Cost, CostsHome, airflow, ask
from demo import processes, services
from demo.api import Api

WANTED_SECONDS = 2.0  # above an empty task
WANTED_CPU = 20.0  # times less than a submit
ROUNDS = 3
PARTITIONS = 48
DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2014-01-01", name="date")
SLOTS = {"cold": 2, "warm": 4}
DAGS = Path(__file__).with_name("dags") / "warm.py"
PRELOAD = "import airflow_partitions.spark.connect.preload\n"
ITS_DAGS = ("empty", "by_hand", "cold", "warm", "many_cold", "many_warm")


@attrs.frozen
class WarmHome(CostsHome):
    """A home with connections to both ways.

    :ivar port: of the Spark Connect server.
    :ivar token: of it.
    """

    port: int = 0
    token: str = ""

    def environment(self, outer: dict[str, str], port: int = 0) -> dict[str, str]:
        """With connections to both ways, and more tasks at a time."""
        warm = {"conn_type": "spark_connect", "host": "sc://localhost", "port": self.port, "password": self.token}
        environment = super().environment(outer, port)
        del environment["SPARK_SUBMIT_OPTS"]  # a plain submit
        return environment | {
            "AIRFLOW_CONN_COLD": '{"conn_type": "spark", "host": "local[2]"}',
            "AIRFLOW_CONN_WARM": json.dumps(warm),
            "AIRFLOW__CORE__PARALLELISM": str(max(SLOTS.values())),
        }


def fill(lake: Path, days: Sequence[str]) -> None:
    """24 files of 400 rows for each of *days*."""
    rows = pa.table({"origin": [f"{n % 5}" for n in range(400)], "delay": [float(n % 90) for n in range(400)]})
    for day in days:
        for hour in range(24):
            folder = lake / "flights" / f"hour={day}T{hour:02}"
            folder.mkdir(parents=True)
            pq.write_table(rows, folder / "0.parquet")


def spent(server: ConnectServer) -> float:
    """Processor time of the server so far."""
    times = psutil.Process(server.pid).cpu_times()
    return float(times.user + times.system)


def measured(way: str, costs: Sequence[Cost], server: float) -> dict[str, Any]:
    """One row: medians of the tasks, and what the server spent for each."""
    own = statistics.median(cost.cpu for cost in costs)
    return {
        "way": way,
        "partitions": len(costs),
        "seconds": statistics.median(cost.seconds for cost in costs),
        "wall": (max(cost.end for cost in costs) - min(cost.begin for cost in costs)) / len(costs),
        "cpu": own,
        "server": server / len(costs),
    }


def measure(rounds: int, partitions: int) -> list[dict[str, Any]]:
    """All rows."""
    rows: list[dict[str, Any]] = []
    days = [str(day) for day in islice(DAYS.keys(), max(rounds + 1, partitions))]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        token, port = "benchmark", processes.free_port(None, 0)
        home = WarmHome(root, file=DAGS, port=port, token=token)
        home.create()
        fill(home.lake, days)
        with ConnectServer(port=port, token=token, log=root / "server.log", memory="1g") as server:

            def one_by_one(api: Api, way: str, dag: str) -> None:
                ask(api, home, dag, days[:1])  # warms up: Python's compiled files, the server's code
                before = spent(server)
                costs = [cost for n in range(rounds) for cost in ask(api, home, dag, days[n + 1 : n + 2])]
                rows.append(measured(way, costs, spent(server) - before))

            with airflow(home, ITS_DAGS, services.FIRST) as api:
                for pool, slots in SLOTS.items():
                    api.post("pools", {"name": pool, "slots": slots})
                one_by_one(api, "warm, fresh", "warm")
                one_by_one(api, "by hand, fresh: @task.pyspark", "by_hand")
            # The scheduler loads the client before it forks.
            with airflow(attrs.evolve(home, settings=PRELOAD), ITS_DAGS, services.FIRST) as api:
                for dag, way in {
                    "empty": "empty task",
                    "cold": "cold submit",
                    "warm": "warm, forked",
                    "by_hand": "by hand, forked: @task.pyspark",
                }.items():
                    one_by_one(api, way, dag)
                for dag, slots in SLOTS.items():
                    before = spent(server)
                    costs = ask(api, home, f"many_{dag}", days[:partitions])
                    rows.append(measured(f"{partitions} {dag}, {slots} at a time", costs, spent(server) - before))
    return rows


def judged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """*rows* beside the empty task and the submit of the same kind, and what was wanted."""
    by_way = {row["way"]: row for row in rows}
    empty, cold = by_way["empty task"], by_way["cold submit"]
    many = next(row for row in rows if "cold," in row["way"])
    for row in rows:
        of = many if "at a time" in row["way"] else cold
        row["above"] = row["seconds"] - empty["seconds"]
        # Airflow's own part of a task is the same in all ways.
        job, submit = (each["cpu"] + each["server"] - empty["cpu"] for each in (row, of))
        row["less"] = submit / job if row is not empty else None
        row["missed"] = row["way"] == "warm, forked" and (row["above"] > WANTED_SECONDS or row["less"] < WANTED_CPU)
    return rows


def show(rows: list[dict[str, Any]]) -> None:
    """As a table."""
    table = Table(title=__doc__.splitlines()[0])
    for column in ("", "seconds", "above empty", "CPU task", "CPU server", "CPU to cold", "seconds per partition"):
        table.add_column(column, justify="left" if not column else "right")
    for row in rows:
        table.add_row(
            row["way"],
            f"{row['seconds']:.1f}",
            f"{row['above']:+.1f}",
            f"{row['cpu']:.1f}",
            f"{row['server']:.1f}",
            "" if row["less"] is None else f"1/{row['less']:.0f}",
            f"{row['wall']:.1f}" if "at a time" in row["way"] else "",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.warm", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of single tasks (default: %(default)s)")
    parser.add_argument("--partitions", type=int, default=PARTITIONS, help="made at once (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    results = judged(measure(options.rounds, options.partitions))
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        show(results)
    sys.exit(any(row["missed"] for row in results))
