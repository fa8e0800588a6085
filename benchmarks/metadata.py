"""What the benchmarks on Airflow's database share: a scratch Airflow on SQLite and on PostgreSQL, and the command line.

The question is asked in a process of its own for each database, because Airflow reads its settings when it is imported.
Times are that process's processor time, so that other work on the machine counts little; what the database does for it
shows in the number of queries.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.postgres import postgres

ROOT = Path(__file__).parents[1]
DATABASES = ("sqlite", "postgresql")

Row = dict[str, Any]


def main(name: str, words: str, measure: Callable[[], list[Row]]) -> int:
    """The command line of a benchmark: *measure* on each database; 1 if something wanted was missed.

    A row has ``what``, ``ours`` and further columns of texts, and ``missed``.
    """
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=words)
    parser.add_argument("--on", choices=DATABASES, nargs="+", default=DATABASES, metavar="DATABASE")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--here", action="store_true", help="in the Airflow of this environment, as JSON")
    chosen = parser.parse_args()
    if chosen.here:
        print(json.dumps(measure()))
        return 0
    console = Console(stderr=True)
    rows = []
    for database in chosen.on:
        with console.status(f"making an Airflow on {database} …") as status, airflow(database) as environment:
            status.update(f"{name} on {database} …")
            rows += [{"database": database, **row} for row in _ask(name, environment)]
    if chosen.json:
        print(json.dumps(rows, indent=2))
    else:
        _show(words, rows)
    return 1 if any(row["missed"] for row in rows) else 0


def timed(what: str, ask: Callable[[], None], wanted: float | None) -> Row:
    """A row of what it takes to *ask*: processor time, wall time, queries.

    :param wanted: seconds that it may take by the wall.
    """
    from benchmarks.history import counted

    with counted() as queries:
        begun, began = process_time(), perf_counter()
        ask()
        seconds, wall, number = process_time() - begun, perf_counter() - began, queries()
    return {
        "what": what,
        "ours": f"{seconds * 1e3:,.0f} ms",
        "wall": f"{wall * 1e3:,.0f} ms",
        "queries": f"{number:,}",
        "wanted": "" if wanted is None else f"<= {wanted:.0f} s",
        "missed": wanted is not None and wall > wanted,
    }


@contextmanager
def airflow(database: str) -> Iterator[dict[str, str]]:
    """The environment of a fresh Airflow whose database knows the Dags of benchmarks/dags."""
    with tempfile.TemporaryDirectory() as home, postgres() if database == "postgresql" else nullcontext() as server:
        outer = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
        environment = {
            **outer,
            "PATH": f"{Path(sys.executable).parent}:{outer.get('PATH', '')}",
            "AIRFLOW_HOME": home,
            "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "benchmarks" / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": server.url if server else f"sqlite:///{home}/airflow.db",
            "AIRFLOW__LOGGING__LOGGING_LEVEL": "ERROR",
        }
        for words in (["db", "migrate"], ["dags", "reserialize"]):
            process = subprocess.run(
                ["airflow", *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if process.returncode:
                raise SystemExit(f"airflow {' '.join(words)}:\n{process.stdout}{process.stderr}")
        yield environment


def _ask(name: str, environment: dict[str, str]) -> list[Row]:
    process = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", "--here"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows: list[Row] = json.loads(process.stdout.splitlines()[-1])
    return rows


def _show(title: str, rows: list[Row]) -> None:
    columns = [name for name in rows[0] if name != "missed"]
    table = Table(title=title)
    for name in columns:
        table.add_column(name, justify="left" if name in ("database", "what") else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(str(row[name]) for name in columns), style="red" if row["missed"] else None)
    console = Console()
    console.print(table) if console.is_terminal else Console(width=130).print(table)
