"""Take the pictures in docs/pictures, from a demo that ``make demo ARGS=--quick`` has just started."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[1]
sys.path.insert(0, str(CHECKOUT))

from demo.api import Api  # noqa: E402
from demo.errors import DemoError  # noqa: E402
from demo.home import USER, Home  # noqa: E402
from demo.services import Services  # noqa: E402
from tests.view.browser import chromium  # noqa: E402

FOLDER = CHECKOUT / "docs" / "pictures"
WIDTH, HEIGHT = 1200, 1000
COLORS = 256
MOST_BYTES = 120_000
HOUR = "2013-02-08T17:00-05:00"
WRONG = "2013-02-08T17:30-05:00"  # no hour begins then
BACKFILL = ("2013/03/10 00:00", "2013/03/10 05:00")
COLUMNS = ("Dag Run ID", "Run After", "Triggering User", "Dag Version(s)", "Conf")  # that are not shown


class Camera:
    """A page of Airflow's UI, and pictures of it."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self._address = address

    def open(self, path: str) -> None:
        """Show the page at *path*, with all that it loads."""
        self.page.goto(f"{self._address}{path}")
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is loaded any more, and nothing moves."""
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_timeout(1000)

    def take(self, name: str, *parts: Any, within: Any = None, margin: int = 12) -> None:
        """A picture from the first to the last of the *parts*, as wide as what they are *within*."""
        from PIL import Image

        boxes = [part.bounding_box() for part in parts]
        sides = boxes if within is None else [within.bounding_box()]
        left = max(0, min(box["x"] for box in sides) - (margin if within is None else 0))
        right = min(WIDTH, max(box["x"] + box["width"] for box in sides) + (margin if within is None else 0))
        top = max(0, min(box["y"] for box in boxes) - margin)
        bottom = min(HEIGHT, max(box["y"] + box["height"] for box in boxes) + margin)
        clip = {"x": left, "y": top, "width": right - left, "height": bottom - top}
        image = Image.open(io.BytesIO(self.page.screenshot(clip=clip))).convert("RGB")
        file = FOLDER / f"{name}.png"
        image.quantize(COLORS, dither=Image.Dither.NONE).save(file, optimize=True)
        size = file.stat().st_size
        if size > MOST_BYTES:
            raise DemoError(f"{file} has {size:,} bytes; expected at most {MOST_BYTES:,}")
        print(f"{file.relative_to(CHECKOUT)}: {image.width} x {image.height}, {size:,} bytes")


def pending(camera: Camera, api: Api) -> None:
    """A day that waits for its hours."""
    for dag in ("hourly_departures", "daily_departures"):
        api.patch(f"dags/{dag}", {"is_paused": False})
    made(api, "hourly_departures", HOUR)
    camera.open("/dags/daily_departures")
    page = camera.page
    page.get_by_text("1 / 24", exact=True).click()
    popover = page.locator("[data-scope=popover][data-part=content][data-state=open]")
    popover.get_by_text(HOUR).scroll_into_view_if_needed()
    camera.settle()
    heading, last = page.get_by_role("heading", name="daily_departures"), page.get_by_text("Owner", exact=True)
    camera.take("pending", heading, popover, last)


def refused(camera: Camera, _: Api) -> None:
    """A key that is none."""
    dialog = trigger(camera, "hourly_departures")
    dialog.get_by_text("Advanced Options").click()
    field = dialog.locator("input[name=partitionKey]")
    field.fill(WRONG)
    dialog.get_by_role("button", name="Trigger").last.click()
    answer = dialog.get_by_text("is not a partition of")
    answer.wait_for()
    camera.page.wait_for_timeout(8000)  # until the toast has gone
    dialog.get_by_role("heading").first.scroll_into_view_if_needed()
    camera.settle()
    camera.take("refused", dialog.get_by_text("400 Bad Request"), field, within=dialog, margin=32)


def backfill(camera: Camera, _: Api) -> None:
    """A range of hours, and then the runs of them."""
    dialog = trigger(camera, "hourly_departures")
    dialog.get_by_text("Backfill", exact=True).first.click()
    for moment in BACKFILL:
        dialog.get_by_text("Select date and time").first.click()
        date, clock = moment.split()
        camera.page.get_by_placeholder("YYYY/MM/DD").last.fill(date)
        camera.page.get_by_placeholder("HH:mm").last.fill(clock)
        camera.page.keyboard.press("Escape")
        camera.page.wait_for_timeout(500)
    camera.settle()
    first, last = dialog.get_by_role("heading").first, dialog.get_by_text("Max Active Runs")
    camera.take("backfill", first, last, within=dialog, margin=20)
    dialog.get_by_role("button", name="Run Backfill").last.click()
    camera.settle()


def runs(camera: Camera, api: Api) -> None:
    """A run for each hour."""
    waited(lambda: len(successful(api, "hourly_departures")) >= 6)
    camera.open("/dags/hourly_departures/runs")
    page = camera.page
    page.get_by_role("button", name="Filter table columns").click()
    for column in (*COLUMNS, "Partition Key"):
        page.locator("label").get_by_text(column, exact=True).click()
    page.keyboard.press("Escape")
    page.get_by_text("Dag Runs", exact=False).first.click()
    camera.settle()
    camera.take("runs", page.locator("table").first)


def event(camera: Camera, api: Api) -> None:
    """What the event of an hour tells."""
    (run,) = successful(api, "hourly_flights")
    camera.open(f"/dags/hourly_flights/runs/{run['dag_run_id']}/tasks/hourly_flights/asset_events")
    page = camera.page
    for _ in range(2):  # the event, and which inputs were read: more has no room
        page.locator(".codicon-folding-collapsed").first.click()
        camera.settle()
    camera.take("event", page.get_by_text("Created Asset Event"), page.locator(".monaco-editor").last, margin=16)


def trigger(camera: Camera, dag: str) -> Any:
    """The dialog that starts runs of *dag*."""
    camera.open(f"/dags/{dag}")
    camera.page.get_by_role("button", name="Trigger").first.click()
    camera.settle()
    return camera.page.get_by_role("dialog")


def successful(api: Api, dag: str) -> list[dict[str, Any]]:
    """The runs of *dag* that ended well."""
    answer: list[dict[str, Any]] = api.get(f"dags/{dag}/dagRuns", state="success")["dag_runs"]
    return answer


def made(api: Api, dag: str, key: str) -> None:
    """Make a partition, unless it is there."""

    def there() -> bool:
        return any(run["partition_key"] == key for run in successful(api, dag))

    if not there():
        api.post(f"dags/{dag}/dagRuns", {"logical_date": None, "partition_key": key})
        waited(there)


def waited(done: Callable[[], bool]) -> None:
    """Wait until something is *done*, three minutes at most."""
    deadline = time.monotonic() + 180
    while not done():
        if time.monotonic() > deadline:
            raise DemoError("the demo's runs do not end; see its logs")
        time.sleep(2)


def main(*names: str) -> None:
    """Take the pictures called *names*, or all."""
    home = Home(CHECKOUT / ".demo")
    running = Services.of(home)
    if running is None:
        raise DemoError("expected a demo that runs: make demo ARGS=--quick")
    FOLDER.mkdir(exist_ok=True)
    password = home.secret("password")
    with Api(running.address, USER, password) as api, chromium() as browser:
        size = {"width": WIDTH, "height": HEIGHT}
        page = browser.new_context(viewport=size, timezone_id="UTC", color_scheme="light").new_page()
        camera = Camera(page, running.address)
        camera.open("/")
        page.fill("input[name=username]", USER)
        page.fill("input[name=password]", password)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "login" not in url)
        for picture in (pending, refused, backfill, runs, event):
            if picture.__name__ in names or not names:
                picture(camera, api)


if __name__ == "__main__":
    main(*sys.argv[1:])
