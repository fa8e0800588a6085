"""The view in a browser: 100,000 partitions (2,000 days of 50 regions), by states and by a value, and the board.

Measured is until they are seen, how they move, and what they take. Times are wall time, of a browser
without a graphics card on the machine of the server: on a busy machine they tell little.
Airflow's own page of a Dag is measured beside it, with as many runs of the Dag as the asset has partitions.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from airflow_partitions.view.apps import BUNDLES
from benchmarks import view_board
from benchmarks.view_page import Row, frames, loaded, memory_of, row
from tests.view.browser import chromium, signed_in
from tests.view.running_server import RunningServer, free_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROUNDS = 5
ASSET = "region_days"
PICTURE, FRAMES, MEMORY, BUNDLE = 1.5, 50, 300e6, 120_000
# Whether the largest canvas of the page has been drawn on.
DRAWN = """() => {
    const [canvas] = [...document.querySelectorAll('[role=application] canvas')].filter(each => each.width > 0);
    if (!canvas) return false;
    const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, 8);
    return data.some(value => value > 0) && performance.now();
}"""
# The scale of values is below the picture once there are some.
VALUED = f"() => document.querySelector('[aria-label=Legend]') !== null && ({DRAWN})()"
# Airflow's own grid has a bar for each run that it shows.
OWN = "() => document.querySelectorAll('a[href*=\"/runs/\"]').length > 5 && performance.now()"


def measure(browser: Browser, server: RunningServer) -> list[Row]:
    """All of it, in one browser."""
    page = signed_in(browser, server.address, server.token("admin"))
    ours = f"{server.address}/plugin/partitions/assets/{ASSET}"
    seconds = [loaded(page, ours, DRAWN) for _ in range(ROUNDS + 1)]
    rows = [row("first useful picture, nothing in the cache", f"{seconds[0]:.2f} s", seconds[0], None)]
    median = statistics.median(seconds[1:])
    rows.append(row("first useful picture", f"{median:.2f} s", median, PICTURE, "< 1.5 s"))
    median = statistics.median(clicked(page, server) for _ in range(ROUNDS))
    rows.append(row("the same, from the overview", f"{median:.2f} s", median, PICTURE, "< 1.5 s"))
    seconds = [loaded(page, f"{ours}?value=rows", VALUED) for _ in range(ROUNDS)]
    median = statistics.median(seconds)
    rows.append(row("100,000 cells coloured by a value", f"{median:.2f} s", median, PICTURE, "< 1.5 s"))
    page.context.close()
    page = signed_in(browser, server.address, server.token("admin"))  # that has seen nothing else
    loaded(page, ours, DRAWN)
    for name, keys in (("zoom", "Control"), ("move in time", "Shift"), ("scroll the regions", None)):
        rate, longest = frames(page, keys)
        rows.append(
            row(f"frames to {name}; the longest takes {longest:.0f} ms", f"{rate:.0f}/s", -rate, -FRAMES, ">= 50/s")
        )
    memory = memory_of(page)
    rows.append(row("memory of the page", f"{memory / 1e6:.0f} MB", memory, MEMORY, "< 300 MB"))
    (file,) = BUNDLES.glob("*.js")
    size = len(gzip.compress(file.read_bytes()))
    rows.append(row("bundle, gzip", f"{size / 1e3:.0f} kB", size, BUNDLE, "< 120 kB"))
    page.context.close()
    page = signed_in(browser, server.address, server.token("admin"))
    seconds = [loaded(page, f"{server.address}/dags/{ASSET}", OWN) for _ in range(ROUNDS + 1)]
    own = "Airflow's own page of the Dag, with 100,000 runs"
    rows.append(row(f"{own}, nothing in the cache", f"{seconds[0]:.2f} s", 0, None))
    rows.append(row(own, f"{statistics.median(seconds[1:]):.2f} s", 0, None))
    page.context.close()
    page = signed_in(browser, server.address, server.token("admin"))
    loaded(page, f"{server.address}/dags/{ASSET}", OWN)
    rows.append(row("memory of that page", f"{memory_of(page) / 1e6:.0f} MB", 0, None))
    return rows


def clicked(page: Page, server: RunningServer) -> float:
    """The seconds from a click on the overview until the picture of the asset is seen."""
    page.goto(f"{server.address}/plugin/partitions")
    link = page.get_by_role("link", name=ASSET, exact=True).first
    link.wait_for()
    page.wait_for_load_state("networkidle")
    before = float(page.evaluate("performance.now()"))
    link.click()
    return (float(page.wait_for_function(DRAWN, polling="raf").json_value()) - before) / 1e3


def add_runs(server: RunningServer) -> None:
    """A run of the Dag for each partition of the asset."""
    from sqlalchemy import create_engine

    from tests.metadata import Metadata
    from tests.operate.states.world import put_runs
    from tests.view.dags import REGIONS, YEARS

    keys = ["|".join(map(str, parts)) for parts in product(YEARS.keys(), REGIONS.keys())]
    engine = create_engine(f"sqlite:///{server.home}/airflow.db", connect_args={"timeout": 60})
    put_runs(Metadata(engine), ASSET, keys, "success", datetime.now(UTC) - timedelta(days=4))
    engine.dispose()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.view", description="the view in a browser")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, Console(stderr=True).status("making an Airflow …") as status:
        server = RunningServer(Path(home), free_port())
        server.start()
        try:
            add_runs(server)
            status.update("looking at it …")
            with chromium() as browser:
                rows = measure(browser, server)
                status.update("looking at the board …")
                rows += view_board.measure(browser, server)
        finally:
            server.stop()
    if chosen.json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows)
    return 1 if any(row["missed"] for row in rows) else 0


def show(rows: list[Row]) -> None:
    table = Table("what", title="The view in a browser")
    for name in ("measured", "wanted"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in rows:
        table.add_row(each["what"], each["measured"], each["wanted"], style="red" if each["missed"] else None)
    Console(width=100).print(table)


if __name__ == "__main__":
    sys.exit(main())
