"""What 50 jobs of a managed engine cost a real Airflow that waits for them, and what an engine adds to a plain task.

A job is one of EMR Serverless, at a stand-in on this machine: it waits, and makes its partition at once. Either each
job holds a worker while it runs, and there are as many workers as jobs; or its task gives the worker back, and there
are few. Memory is that of the scheduler, its workers and the triggerer, each page once (PSS), at its most.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Self

import attrs
import psutil
from rich.console import Console
from rich.table import Table

from airflow_partitions import PartitionByInterval
from benchmarks.task_costs import CostsHome, airflow, ask
from demo import services
from demo.api import Api
from tests.postgres import postgres
from tests.spark.engines.platforms import EmrServerlessStandIn
from tests.spark.submissions import Cluster

JOBS, SLOTS, ROUNDS = 50, 4, 3
SECONDS = 20.0
DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2014-01-01", name="date")
DAGS = Path(__file__).with_name("dags") / "engines.py"


@attrs.frozen
class EnginesHome(CostsHome):
    """A home with a connection to the stand-in.

    :ivar platform: URL of the stand-in.
    :ivar workers: tasks at work at the same time.
    """

    platform: str = ""
    workers: int = SLOTS

    def environment(self, outer: dict[str, str], port: int = 0) -> dict[str, str]:
        """With the connection, and as many tasks at a time."""
        extra = {"endpoint_url": self.platform, "region_name": "us-east-1"}
        connection = {"conn_type": "aws", "login": "somebody", "password": "secret", "extra": extra}
        return super().environment(outer, port) | {
            "AIRFLOW_CONN_AWS_DEFAULT": json.dumps(connection),
            "AIRFLOW__CORE__PARALLELISM": str(self.workers),
            "AIRFLOW__CORE__MAX_ACTIVE_TASKS_PER_DAG": str(self.workers),
        }


class Memory:
    """The most that some services of a home have had at a time, in MB."""

    def __init__(self, home: EnginesHome) -> None:
        self._home = home
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.most = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        running = services.Services.of(self._home)
        assert running is not None
        members = [one for one in running.members if one.name in ("scheduler", "triggerer")]
        while not self._over.wait(1.0):
            total = 0
            for process in (each for member in members for each in member.family):
                with suppress(psutil.NoSuchProcess):
                    total += process.memory_full_info().pss
            self.most = max(self.most, total / 1e6)


def measure(jobs: int, seconds: float, rounds: int) -> list[dict[str, Any]]:
    """All rows."""
    rows: list[dict[str, Any]] = []
    days = [str(day) for day in islice(DAYS.keys(), max(jobs, rounds) + 1)]
    for way, workers in (("held", jobs), ("freed", SLOTS)):
        with tempfile.TemporaryDirectory() as folder:
            platform = EmrServerlessStandIn(Path(folder))
            with platform.serving() as url, postgres() as server:
                home = EnginesHome(Path(folder), server.url, file=DAGS, platform=url, workers=workers)
                with airflow(home, ("empty", "held", "freed")) as api:
                    platform.work = Cluster().succeed
                    if way == "held":
                        rows += [one_by_one(api, home, dag, days[: rounds + 1]) for dag in ("empty", "held")]

                    # Airflow fails a task whose trigger fires before its scheduler has seen that it has deferred.
                    def work(handover: Any) -> None:
                        time.sleep(seconds)
                        Cluster().succeed(handover)

                    platform.work = work
                    ask(api, home, way, days[-1:])  # warms up
                    started = time.time()
                    with Memory(home) as memory:
                        costs = ask(api, home, way, days[:jobs])
                    rows.append(
                        {
                            "what": f"{jobs} jobs of {seconds:g} s, {workers} workers",
                            "seconds": max(cost.end for cost in costs) - started,
                            "cpu": sum(cost.cpu for cost in costs),
                            "memory": memory.most,
                        }
                    )
    return rows


def one_by_one(api: Api, home: EnginesHome, dag: str, days: Sequence[str]) -> dict[str, Any]:
    """One task after the other, the first of them to warm up."""
    costs = [cost for day in days for cost in ask(api, home, dag, [day])][1:]
    what = {"empty": "an empty task", "held": "a task with a job that ends at once"}[dag]
    seconds, cpu = (statistics.median(getattr(cost, name) for cost in costs) for name in ("seconds", "cpu"))
    return {"what": what, "seconds": seconds, "cpu": cpu, "memory": None}


def show(rows: list[dict[str, Any]]) -> None:
    """As a table."""
    table = Table(title=__doc__.splitlines()[0])
    for column in ("", "seconds", "CPU of the tasks, s", "memory, MB"):
        table.add_column(column, justify="left" if not column else "right")
    for row in rows:
        memory = "" if row["memory"] is None else f"{row['memory']:,.0f}"
        table.add_row(row["what"], f"{row['seconds']:.1f}", f"{row['cpu']:.1f}", memory)
    Console(width=120).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS, help="at the same time (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that each takes (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of single tasks (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    results = measure(options.jobs, options.seconds, options.rounds)
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        show(results)
    sys.exit()
