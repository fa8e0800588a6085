"""The board in a browser: 50 assets over a year, and 500 over 90 days; until it is seen, and how it scrolls.

The assets are put beside those of the estate, so that there are some more of both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.view_page import Row, frames, loaded, row
from tests.view.browser import signed_in
from tests.view.bundle import ROOT
from tests.view.running_server import RunningServer
from tests.view.server import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROUNDS = 5
FEW, MANY = 50, 500
#: Days of history, of few assets and of many.
YEAR, QUARTER = 400, 100
BOARD, FRAMES = 1.5, 50
# Whether a row of the board has been drawn on.
DRAWN = """() => [...document.querySelectorAll('[data-strip] canvas')].some(canvas => canvas.width > 0
    && canvas.getContext('2d').getImageData(0, 0, canvas.width, 8).data.some(value => value > 0))
    && performance.now()"""
# Whether all assets are there, not only those of the first answer.
ALL = f"() => document.querySelector('[role=application]')?.scrollHeight > {28 * MANY} && performance.now()"
# Airflow's own list of Dags has a link for each that it shows.
OWN = "() => document.querySelectorAll('a[href*=\"/dags/board_\"]').length > 5 && performance.now()"
SOURCE = """
DAYS = PartitionByInterval("@daily", start="{start:%Y-%m-%d}", name="date")

for number in range({first}, {last}):
    own = Asset(f"board_{{number:03}}")
    upstream = Asset.ref(name=f"board_{{number - 1:03}}") if number % 5 else None
    with DAG(own.name, schedule=Partitioned(upstream, DAYS, asset=own), tags=["board"]):
        EmptyOperator(task_id="write", outlets=[own])
"""


def measure(browser: Browser, server: RunningServer) -> list[Row]:
    """The board of few assets, then with many more of them."""
    add_assets(server, 0, FEW, YEAR)
    rows = [*_pictures(browser, server, 365, f"board of {FEW} assets x 365 days", BOARD)]
    add_assets(server, FEW, MANY, QUARTER)
    rows += _pictures(browser, server, 90, f"board of {MANY} assets x 90 days", BOARD)
    page = signed_in(browser, server.address, server.token("admin"))
    seconds = loaded(page, _address(server, 90), ALL)
    rows.append(row(f"until all {MANY} are there, nothing in the cache", f"{seconds:.2f} s", 0, None))
    loaded(page, _address(server, 90), ALL)
    rate, longest = frames(page, None)
    what = f"frames to scroll the board of {MANY} assets; the longest takes {longest:.0f} ms"
    rows.append(row(what, f"{rate:.0f}/s", -rate, -FRAMES, f">= {FRAMES}/s"))
    page.context.close()
    page = signed_in(browser, server.address, server.token("admin"))
    median = _median(page, f"{server.address}/dags?search=board", OWN)
    rows.append(
        row(f"Airflow's own list of these {MANY} Dags, of which it shows the first", f"{median:.2f} s", 0, None)
    )
    page.context.close()
    return rows


def _pictures(browser: Browser, server: RunningServer, days: int, what: str, wanted: float) -> list[Row]:
    """Until the board is seen: at first, and again."""
    page = signed_in(browser, server.address, server.token("admin"))
    first = loaded(page, _address(server, days), DRAWN)
    median = _median(page, _address(server, days), DRAWN)
    page.context.close()
    return [
        row(f"{what}: first picture, nothing in the cache", f"{first:.2f} s", 0, None),
        row(f"{what}: first picture", f"{median:.2f} s", median, wanted, f"< {wanted} s"),
    ]


def _median(page: Page, address: str, seen: str) -> float:
    return statistics.median(loaded(page, address, seen) for _ in range(ROUNDS))


def _address(server: RunningServer, days: int) -> str:
    return f"{server.address}/plugin/partitions/board?days={days}"


def add_assets(server: RunningServer, first: int, last: int, days: int) -> None:
    """Put assets with so many days of history into the Airflow of a server, in a process with its settings."""
    words = ["--home", str(server.home), "--assets", str(first), str(last), "--days", str(days)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
    subprocess.run(
        [sys.executable, "-m", "benchmarks.view_board", *words],
        cwd=ROOT,
        env=environment | settings(server.home, server.address),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _fill(home: Path, first: int, last: int, days: int) -> None:
    """The Dags, and what has become of their newest days: one of seventeen is missing, one of fifty failed."""
    from airflow import settings as airflow_settings
    from airflow.models.dag import DagModel
    from sqlalchemy import update

    from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
    from airflow_partitions.engine.ledger.ledger import update_ledger
    from tests.metadata import Metadata
    from tests.operate.states.world import put_runs

    metadata = Metadata(airflow_settings.engine)
    now = datetime.now(UTC)
    source = SOURCE.format(start=now - timedelta(days=YEAR), first=first, last=last)
    metadata.parse(home / "dags", **{f"board_{first}": source})
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    texts = [f"{now - timedelta(days=day):%Y-%m-%d}" for day in range(days, 0, -1)]
    for number in range(first, last):
        name = f"board_{number:03}"
        failed = [text for i, text in enumerate(texts) if (i + number) % 50 == 0]
        missing = [text for i, text in enumerate(texts) if (i + number) % 17 == 0]
        there: dict[str, Any] = {"extra": {"rows": 7, "files": 1, "bytes": 1234}}
        metadata.emit(name, *(set(texts) - {*failed, *missing}), at=now - timedelta(days=1), **there)
        put_runs(metadata, name, failed, "failed", now - timedelta(hours=1))
        update_ledger(name, partitioned_asset(name).meaning)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.view_board", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="of the Airflow into which assets are put")
    parser.add_argument("--assets", type=int, nargs=2, required=True, metavar=("FIRST", "LAST"))
    parser.add_argument("--days", type=int, required=True, help="of history of each")
    chosen = parser.parse_args()
    _fill(chosen.home, *chosen.assets, chosen.days)


if __name__ == "__main__":
    main()
