"""Many small partitions in a real Airflow: a task for each, and a task for many; beside a single run of Dagster.

Each way is an asset of its own, and is asked for its hours by one request; each hour is a Dag run with its own state
and event. Seconds are from the request to the last run's end. The processor time is that of Airflow's services with all
that they have started, and of PostgreSQL, less what they spend while nothing is asked; that of the Spark Connect server
is beside it. Dagster's is that of the one process that makes the range: no daemon and no queue are counted.

The first run makes an environment for Dagster under ``.bench/``, and needs the package index for that.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
import psutil
import psycopg2
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from airflow_partitions import PartitionByInterval
from airflow_partitions.spark.server.connect_server import ConnectServer
from benchmarks.core import ROOT, dagster_environment
from demo import processes, services
from demo.api import Api
from demo.home import USER, Home
from tests.postgres import postgres

HOURS = PartitionByInterval("@hourly", start="2013-01-01", end="2015-01-01", name="hour")
DAGS = Path(__file__).with_name("dags") / "many.py"
#: Asset, how many at a time, in words, and how many partitions a minute are wanted.
WAYS = {
    "single": ("pandas, a task for each", 0),
    "batched": ("pandas, batches, the function unchanged", 1500),
    "together": ("pandas, batches, one frame", 1500),
    "polars_batched": ("polars, batches, the function unchanged", 1500),
    "polars_threads": ("polars, batches, the function unchanged, four threads", 1500),
    "polars_together": ("polars, batches, one frame", 1500),
    "spark_single": ("warm Spark, a task for each", 0),
    "spark_batched": ("warm Spark, batches, the function unchanged", 100),
    "spark_together": ("warm Spark, batches, one frame", 1000),
    "cold_batched": ("a submit, batches, the function unchanged", 0),
    "cold_together": ("a submit, batches, one frame", 0),
}
#: Of the ways that make each by itself, no more than that are asked for.
MOST = {"single": 120, "spark_single": 24, "spark_batched": 240, "cold_batched": 240}
#: A submit is asked for one first: 24 are to take no more than twice as long.
ONE, SEVERAL, TIMES = 1, 24, 2
DAGSTER_WAY = "dagster"
WARM_UP = 2
IDLE = 20.0
EXAMPLES = """examples:
  python -m benchmarks many
  python -m benchmarks.many --counts 24,480,1000,8760 --ways batched,together,dagster
"""


@attrs.frozen
class BenchmarkHome(Home):
    """A home with the Dags of this benchmark, and connections to a running server and to a driver of its own.

    :ivar port: of the Spark Connect server.
    :ivar token: of it.
    """

    port: int = 0
    token: str = ""

    def create(self) -> None:
        """Also the Dag file."""
        super().create()
        if not (link := self.dags / DAGS.name).exists():
            link.symlink_to(DAGS)

    def environment(self, outer: dict[str, str], port: int = 0) -> dict[str, str]:
        """That of the demo, with connections to both ways, and Dags that are not paused."""
        warm = {"conn_type": "spark_connect", "host": "sc://localhost", "port": self.port, "password": self.token}
        return super().environment(outer, port) | {
            "AIRFLOW_CONN_COLD": '{"conn_type": "spark", "host": "local[2]"}',
            "AIRFLOW_CONN_WARM": json.dumps(warm),
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        }


def fill(lake: Path, count: int) -> None:
    """A file of 400 rows for each hour."""
    rows = pa.table({"origin": [f"{n % 5}" for n in range(400)], "delay": [float(n % 90) for n in range(400)]})
    for hour in islice(HOURS.keys(), count):
        folder = lake / "flights" / f"hour={hour.start:%Y-%m-%dT%H}"
        folder.mkdir(parents=True)
        pq.write_table(rows, folder / "0.parquet")


@contextmanager
def airflow(home: BenchmarkHome, ways: list[str]) -> Iterator[Api]:
    """An Airflow of the home."""
    try:
        running = services.start(home, None, lambda _: None, services.FIRST)
        with Api(running.address, USER, home.secret("password")) as api:
            for dag in ways:
                while api.get(f"dags/{dag}") is None:
                    if errors := api.get("importErrors")["import_errors"]:
                        raise RuntimeError(errors[0]["stack_trace"])
                    time.sleep(1)
            yield api
    finally:
        services.stop(home)


def spent(home: Home, *others: int) -> float:
    """Processor time so far of the services, of all that they have started, and of other processes with theirs."""
    running = services.Services.of(home)
    members = [] if running is None else [member.pid for member in running.members]
    total = 0.0
    for number in (*members, *others):
        process = psutil.Process(number)
        for each in (process, *process.children(recursive=True)):
            try:
                times = each.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system + times.children_user + times.children_system
    return float(total)


def make(api: Api, asset: str, first: int, count: int) -> float:
    """Ask for *count* partitions, and wait for them; seconds."""
    keys = [str(key) for key in islice(HOURS.keys(), first, first + count)]
    began = time.monotonic()
    body = {"keys": keys, "concurrency": 2}
    (request,) = api.partitions("POST", f"assets/{asset}/requests", body)["requests"]
    while True:
        request = api.partitions("GET", f"requests/{request['id']}")
        if request["state"] not in ("creating", "running", "queued"):
            break
        time.sleep(0.5)
    if request["runs"].get("success") != count:
        raise RuntimeError(f"{asset}: {request}")
    return time.monotonic() - began


def measure(counts: list[int], ways: list[str]) -> list[dict[str, Any]]:
    """All rows."""
    rows: list[dict[str, Any]] = []
    own_ways = [way for way in ways if way != DAGSTER_WAY]
    dagster = dagster_environment(Console(stderr=True), "pandas", "pyarrow") if DAGSTER_WAY in ways else Path()
    with tempfile.TemporaryDirectory() as folder, postgres() as database:
        root, token, port = Path(folder), "benchmark", processes.free_port(None, 0)
        home = BenchmarkHome(root, database=database.url, port=port, token=token)
        home.create()
        fill(home.lake, sum(counts) + WARM_UP + ONE)
        if DAGSTER_WAY in ways:
            rows += [dagster_row(dagster, home.lake, count) for count in counts]
        with closing(psycopg2.connect(database.dsn)) as own:
            main = psutil.Process(own.info.backend_pid).ppid()  # the server's own process
        with (
            ConnectServer(port=port, token=token, log=root / "server.log", memory="1g") as server,
            airflow(home, own_ways) as api,
        ):
            time.sleep(IDLE)
            before = spent(home, main)
            time.sleep(IDLE)
            idle = (spent(home, main) - before) / IDLE
            for way in own_ways:
                make(api, way, 0, WARM_UP)
                first, done = WARM_UP, set[int]()
                for count in [ONE, *counts] if way.startswith("cold") else counts:
                    number = min(count, MOST.get(way, count))
                    if number in done:
                        continue
                    done.add(number)
                    before, jobs = spent(home, main), spent_by(server)
                    seconds = make(api, way, first, number)
                    first += number
                    own = spent(home, main) - before - idle * seconds
                    rows.append(row(way, number, seconds, own, spent_by(server) - jobs))
    judge_submits(rows)
    return rows


def judge_submits(rows: list[dict[str, Any]]) -> None:
    """Say how many a minute the submit of several is to make, by how long that of one took in the same run."""
    alone = {each["way"]: each["seconds"] for each in rows if each["partitions"] == ONE}
    for each in rows:
        if each["partitions"] == SEVERAL and each["way"] in alone:
            each["wanted"] = 60 * SEVERAL / (TIMES * alone[each["way"]])
            each["missed"] = each["a minute"] < each["wanted"]


def dagster_row(python: Path, lake: Path, count: int) -> dict[str, Any]:
    """A range of so many hours, made by one run of Dagster in a process of its own."""
    before, began = os.times(), time.monotonic()
    command = [python, "-m", "benchmarks.many_dagster", lake, str(WARM_UP), str(count)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds, after = time.monotonic() - began, os.times()
    spent_there = after.children_user + after.children_system - before.children_user - before.children_system
    return {
        "way": "Dagster, a backfill by a single run, pandas",
        "partitions": count,
        "seconds": seconds,
        "a minute": 60 * count / seconds,
        "cpu": spent_there / count,
        "server": None,
        "wanted": 0,
        "missed": False,
    }


def spent_by(server: ConnectServer) -> float:
    """Processor time of the Spark Connect server so far."""
    times = psutil.Process(server.pid).cpu_times()
    return float(times.user + times.system)


def row(way: str, count: int, seconds: float, own: float, server: float) -> dict[str, Any]:
    words, wanted = WAYS[way]
    rate = 60 * count / seconds
    is_asked = count >= (1_000 if way == "spark_together" else 480)
    return {
        "way": words,
        "partitions": count,
        "seconds": seconds,
        "a minute": rate,
        "cpu": own / count,
        "server": server / count if "warm" in words else None,
        "wanted": wanted if is_asked else 0,
        "missed": bool(wanted) and is_asked and rate < wanted,
    }


def show(rows: list[dict[str, Any]]) -> None:
    """As a table."""
    table = Table(title=(__doc__ or "").splitlines()[0])
    for column in ("", "partitions", "seconds", "a minute", "wanted", "CPU each", "CPU each of the server"):
        table.add_column(column, justify="left" if not column else "right")
    for each in rows:
        table.add_row(
            each["way"],
            f"{each['partitions']:,}",
            f"{each['seconds']:.1f}",
            f"{each['a minute']:,.0f}",
            f"{each['wanted']:,.0f}" if each["wanted"] else "",
            f"{each['cpu']:.3f}",
            "" if each["server"] is None else f"{each['server']:.3f}",
            style="red" if each["missed"] else None,
        )
    Console(width=130).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.many",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--counts", default="24,480,1000,8760", help="of partitions (default: %(default)s)")
    parser.add_argument("--ways", default=",".join([*WAYS, DAGSTER_WAY]), help="assets (default: all: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args()
    all_rows = measure([int(count) for count in chosen.counts.split(",")], chosen.ways.split(","))
    if chosen.json:
        print(json.dumps(all_rows, indent=2))
    else:
        show(all_rows)
    sys.exit(any(each["missed"] for each in all_rows))
