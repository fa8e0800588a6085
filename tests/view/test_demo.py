"""The view on the server that `make demo` starts: Airflow as the README has it, real runs, real data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
from playwright.sync_api import Page, expect

from demo import services
from demo.api import Api
from demo.home import USER, Home
from tests.conftest import CLASSES
from tests.view.browser import KeptPages
from tests.view.bundle import ROOT, run
from tests.view.conftest import pages_at
from tests.view.running_server import REST, free_port
from tests.view.test_doing import drag, picture
from tests.view.test_pages import LOADED, SCREENS, faults_on, options_of, settled
from tests.view.test_trouble import CHANGES

HOURS = "hourly_departures"
DAY = f"/assets/{HOURS}?start=2013-02-08T05:00:00Z&end=2013-02-09T05:00:00Z"
BROKEN = "2013-02-08T10:00-0500"
PAGES = {
    "": "partitioned assets",
    "/assets/hourly_flights": "hourly_flights",
    "/assets/airport_days": "airport_days",
    "/assets/three_day_departures": "three_day_departures",
    "/requests": "Requests",
    "/doctor": "Doctor",
}
MADE = 180_000  # milliseconds until Airflow has made some partitions, on a busy machine
TOKEN = """
from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
print(SimpleAuthManager().generate_jwt(SimpleAuthManagerUser(username="guest", role="VIEWER")))
"""


@attrs.frozen
class Demo:
    """The demo as it runs.

    :ivar result: what its command has printed.
    """

    home: Home
    address: str
    result: dict[str, Any]

    @property
    def api(self) -> Api:
        """Airflow's REST, signed in."""
        return Api(self.address, USER, self.home.secret("password"))

    @property
    def guest(self) -> str:
        """A token of somebody who may only look."""
        environment = self.home.environment(dict(os.environ))
        words = [sys.executable, "-c", TOKEN]
        process = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr
        return process.stdout.split()[-1]

    @property
    def admin(self) -> str:
        """A token of the demo's own user."""
        with self.api as api:
            return str(api._client.headers["Authorization"]).removeprefix("Bearer ")

    def keys(self, state: str) -> list[str]:
        """The keys of the hours whose run is in a *state*, each as often as it has one."""
        with self.api as api:
            runs = api.pages(f"dags/{HOURS}/dagRuns", "dag_runs")
            return sorted(run["partition_key"] for run in runs if run["state"] == state)

    def is_paused(self) -> bool:
        with self.api as api:
            return bool(api.get(f"dags/{HOURS}")["is_paused"])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """What the README's command starts; it goes on until the tests are over."""
    run(str(ROOT / "tools" / "node_modules.sh"))
    home, port = Home(tmp_path_factory.mktemp("demo")), free_port()
    home.classes.symlink_to(CLASSES)  # as it is after a demo that went on with the other days
    words = [sys.executable, "-m", "demo", "start", "--quick", "--json", "--home", str(home.root), "--port", str(port)]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    try:
        assert process.returncode == 0, process.stderr
        yield Demo(home, f"http://127.0.0.1:{port}", json.loads(process.stdout))
    finally:
        services.stop(home)


def wait(page: Page, until: Any, what: str) -> None:
    for _ in range(MADE // 500):
        if until():
            return
        page.wait_for_timeout(500)
    raise AssertionError(f"not within {MADE // 1000} s: {what}")


def file_of(demo: Demo, hour: str) -> Path:
    folder = demo.home.lake / "landing" / "flights" / f"hour={hour.replace(':', '%3A')}"
    return folder / "part-0.parquet"


def go_on(page: Page, button: str) -> None:
    """Go on in the dialog although the Dag is paused, as the Dags of the demo are that were not asked for anything."""
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("is paused", exact=False).first).to_be_visible()
    expect(dialog.get_by_role("button", name=button)).to_be_disabled()
    dialog.get_by_text("Make these while it is paused").click()
    dialog.get_by_role("button", name=button).click()
    expect(dialog.get_by_text("Asked for")).to_be_visible()
    dialog.get_by_role("button", name="Close").last.click()
    expect(dialog).to_have_count(0)


def test_what_fails_is_seen_explained_mended_and_turns(kept: KeptPages, demo: Demo) -> None:
    assert demo.result["matches"]
    file = file_of(demo, BROKEN)
    content = file.read_bytes()
    file.write_bytes(content[:100])  # what a copy leaves that was cut off
    with pages_at(kept, demo.address, demo.admin) as opens:
        page = opens(DAY)
        settled(page, HOURS)
        drag(page, picture(page, HOURS), 9, 11, 24)
        expect(page.get_by_text("3 partitions selected")).to_be_visible()
        page.get_by_role("group", name="Actions").get_by_role("button", name="Materialize").click()
        go_on(page, "Materialize 3 partitions")
        wait(page, lambda: len(demo.keys("success")) == 2 and len(demo.keys("failed")) == 1, "two hours and a failure")
        page.goto(f"{demo.address}/plugin/partitions")
        settled(page, "partitioned assets")
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name=HOURS, exact=True))
        expect(row.get_by_role("link", name="1 failed")).to_be_visible()
        page.goto(f"{demo.address}/plugin/partitions{DAY}")
        settled(page, HOURS)
        box = picture(page, HOURS).bounding_box()
        assert box is not None
        (failed,) = demo.keys("failed")
        page.mouse.click(box["x"] + box["width"] * 10.5 / 24, box["y"] + 10)
        settled(page, failed)
        expect(page.get_by_role("region", name="Why")).to_contain_text("failed at")
        file.write_bytes(content)
        wait(page, demo.is_paused, "upkeep has paused the Dag again")
        page.reload()
        settled(page, failed)
        page.get_by_role("button", name="Re-run").click()
        go_on(page, "Materialize 1 partition")
        heading = page.get_by_role("heading", level=1).locator("xpath=..")
        expect(heading).to_contain_text("materialized", timeout=MADE)  # without having been loaded again
        wait(page, demo.is_paused, "upkeep has paused the Dag again")
    assert demo.keys("failed") == []


def test_what_is_missing_among_selected_hours_is_filled_and_nothing_else(kept: KeptPages, demo: Demo) -> None:
    before = demo.keys("success")
    with pages_at(kept, demo.address, demo.admin) as opens:
        page = opens(DAY)
        settled(page, HOURS)
        picture(page, HOURS).focus()
        for key in (*["ArrowLeft"] * 11, *["Shift+ArrowLeft"] * 3):
            page.keyboard.press(key)
        expect(page.get_by_text("4 partitions selected")).to_be_visible()
        field = page.get_by_role("textbox", name="Selected partitions, as text")
        expect(field).to_have_value("2013-02-08T10:00-05:00..2013-02-08T14:00-05:00")
        page.get_by_role("group", name="Actions").get_by_role("button", name="Fill missing").click()
        go_on(page, "Materialize 2 partitions")
        wait(page, lambda: len(demo.keys("success")) == len(before) + 2, "the hours that were missing")
        wait(page, demo.is_paused, "upkeep has paused the Dag again")
    assert sorted({*demo.keys("success")} - {*before}) == ["2013-02-08T12:00-05:00", "2013-02-08T13:00-05:00"]


@pytest.mark.parametrize("screen", SCREENS)
def test_all_pages_can_be_read_by_all(kept: KeptPages, demo: Demo, screen: str) -> None:
    with pages_at(kept, demo.address, demo.admin) as opens:
        page = opens(**options_of(screen))
        assert faults_on(page, demo.address, PAGES | {DAY: HOURS}, by_links=screen != LOADED) == {}


def test_a_guest_is_offered_nothing_and_refused(kept: KeptPages, demo: Demo) -> None:
    guest = demo.guest
    with pages_at(kept, demo.address, guest) as opens:
        page = opens(DAY)
        settled(page, HOURS)
        expect(page.get_by_role("button", name=CHANGES)).to_have_count(0)
    answer = httpx.post(
        f"{demo.address}{REST}/assets/{HOURS}/requests",
        json={"select": "2013-02-08", "while_paused": True},
        headers={"Authorization": f"Bearer {guest}"},
        trust_env=False,
    )
    assert answer.status_code == 403
    assert "may not start runs of" in answer.json()["detail"]
