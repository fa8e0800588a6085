"""The partitions view on a real Airflow: what fails is made again on its page, and turns there."""

from __future__ import annotations

import httpx
import pytest

from demo.home import USER
from tests.scheduler.conftest import Airflow
from tests.view.browser import chromium, signed_in

DATABASES = ("sqlite",)
pytestmark = pytest.mark.airflow

DAG = """
    @asset(schedule=None, partition=PartitionByInterval("@daily", start="2013-01-01", end="2013-02-01"))
    def looked_at(partition):
        if not (OUT / "shop_is_open").exists():
            raise RuntimeError("the shop is closed")
"""


def test_what_fails_is_made_again_on_its_page_and_turns_there(airflow: Airflow) -> None:
    from playwright.sync_api import expect

    airflow.write("looked_at", DAG)
    assert airflow.trigger("looked_at", "2013-01-05").is_success
    airflow.wait_finished("looked_at", 1, state="failed")
    (airflow.out / "shop_is_open").touch()
    address = airflow.services.address
    body = {"username": USER, "password": airflow.home.secret("password")}
    token = httpx.post(f"{address}/auth/token", json=body, trust_env=False).raise_for_status().json()["access_token"]
    with chromium() as browser:
        page = signed_in(browser, address, token)
        page.goto(f"{address}/plugin/partitions/assets/looked_at/partitions/2013-01-05")
        heading = page.get_by_role("heading", level=1).locator("xpath=..")
        expect(heading).to_contain_text("failed")
        page.get_by_role("button", name="Re-run").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Materialise 1 partition").click()
        expect(dialog.get_by_text("Asked for")).to_be_visible()
        dialog.get_by_role("button", name="Close").last.click()
        expect(heading).to_contain_text("materialised", timeout=120_000)
    assert airflow.events("looked_at") == ["2013-01-05"]
