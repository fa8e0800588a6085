"""Take the pictures of the partitions view in docs/pictures, from a server of its own with the estate of the tests."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
sys.path.insert(0, str(CHECKOUT))

from docs.pictures import Camera, waited  # noqa: E402
from tests.view.browser import chromium, signed_in  # noqa: E402
from tests.view.running_server import RunningServer, free_port  # noqa: E402

VIEW = "/plugin/partitions"
WINTER = f"{VIEW}/board?days=90&until=2013-04-01T00:00:00Z"
#: Each page by the name of its picture: its address, the height of what is shown, and the theme.
PAGES = {
    "view-assets": (VIEW, 640, "light"),
    "view-board": (WINTER, 640, "light"),
    "view-rectangle": (f"{WINTER}&search=mart_1", 560, "light"),
    "view-fill": (f"{WINTER}&search=mart_1", 720, "light"),
    "view-asset": (f"{VIEW}/assets/airport_days?start=2013-02-01T00:00:00Z&end=2013-04-01T00:00:00Z", 640, "light"),
    "view-calendar": (f"{VIEW}/assets/deliveries?calendar=&select=2023-06-04,2023-06-11,2023-06-18", 640, "light"),
    "view-values": (
        f"{VIEW}/assets/deliveries?start=2023-02-01T00:00:00Z&end=2023-05-01T00:00:00Z&value=rows",
        520,
        "light",
    ),
    "view-tasks": (f"{VIEW}/assets/steps?tasks=", 480, "light"),
    "view-partition": (f"{VIEW}/assets/days/partitions/2013-02-08", 640, "light"),
    "view-doctor": (f"{VIEW}/doctor", 536, "light"),
    "view-dag": ("/dags/days/plugin/partitions-of-dag", 640, "light"),
    "view-dark": (f"{VIEW}/assets/region_days?start=2023-09-01T00:00:00Z&end=2024-06-23T00:00:00Z", 640, "dark"),
}
#: Those that are taken when the requests have come some way.
LATER_PAGES = {
    "view-requests": (f"{VIEW}/requests", 480, "light"),
    "view-request": (f"{VIEW}/requests/1", 620, "light"),
}


def marked(page: Any) -> None:
    """A rectangle of three assets and some days, marked by dragging."""
    places = []
    for asset, day in (("mart_1_clean", 70), ("mart_1_report", 84)):
        box = page.locator(f"[data-strip='{asset}']").bounding_box()
        places.append((box["x"] + (day + 0.5) * box["width"] / 90, box["y"] + box["height"] / 2))
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=4)
    page.mouse.up()
    page.mouse.move(0, 0)


def filled(page: Any) -> None:
    """The dialog that says what would fill a rectangle."""
    marked(page)
    page.get_by_role("button", name="Fill 3 assets").click()
    page.get_by_role("dialog").get_by_role("table").first.wait_for()


#: What is done on a page before its picture is taken.
DEEDS: Mapping[str, Callable[[Any], None]] = {"view-rectangle": marked, "view-fill": filled}
#: What is asked for before, so that there are requests.
ORDERS = {
    "airport_days": {"select": "airport in EWR,JFK", "states": ["missing"], "label": "after the outage"},
    "mart_5_clean": {"states": ["failed"]},
}
#: What becomes of the first runs of each.
OUTCOMES = [*["success"] * 4, *["failed"] * 6, *["success"] * 10, "failed", *["success"] * 6, *["running"] * 4]


def main(*names: str) -> None:
    """Take the pictures called *names*, or all."""
    with tempfile.TemporaryDirectory() as home, chromium() as browser:
        server = RunningServer(Path(home), free_port())
        server.start()
        token = server.token("admin")
        with server.client() as client:
            for asset, order in ORDERS.items():
                client.post(f"/assets/{asset}/requests", json=order).raise_for_status()
            waited(lambda: not client.get("/requests", params={"states": "creating"}).json()["requests"])

        def take(pages: Mapping[str, tuple[str, int, Any]]) -> None:
            for name, (path, height, theme) in pages.items():
                if name in names or not names:
                    size = {"width": 1200, "height": height}
                    page = signed_in(browser, server.address, token, viewport=size, color_scheme=theme)
                    camera = Camera(page, server.address)
                    camera.open(path)
                    if name in DEEDS:
                        DEEDS[name](page)
                        camera.settle()
                    camera.take(name, page.locator("[data-scroll]" if path.startswith(VIEW) else "body"), margin=0)

        take(PAGES)
        go_on(server)
        take(LATER_PAGES)
        server.stop()


def go_on(server: RunningServer) -> None:
    """What a scheduler does to the runs that were asked for: most of the first ones end well, and the next begin."""
    began = datetime.now(UTC) - timedelta(minutes=20)
    with sqlite3.connect(server.home / "airflow.db", timeout=60) as at:
        for dag_id in ORDERS:
            query = "SELECT id FROM dag_run WHERE dag_id = ? AND state = 'queued' ORDER BY backfill_id, partition_key"
            runs = [run for (run,) in at.execute(query, (dag_id,))]
            for run, state in zip(runs, OUTCOMES, strict=False):
                end = None if state == "running" else str(began + timedelta(minutes=2))
                change = "UPDATE dag_run SET state = ?, start_date = ?, end_date = ? WHERE id = ?"
                at.execute(change, (state, str(began), end, run))


if __name__ == "__main__":
    main(*sys.argv[1:])
