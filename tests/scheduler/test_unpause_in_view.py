"""A Dag that was paused is unpaused in a browser, and what it has missed becomes what one chose."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.scheduler.conftest import Airflow
from tests.scheduler.test_upkeep import command
from tests.view.browser import KeptPages, chromium
from tests.view.conftest import pages_at
from tests.view.test_pages import settled

DATABASES = ("sqlite",)  # what follows is worked out on both by the tests of upkeep
pytestmark = [pytest.mark.airflow, pytest.mark.long]

DAYS = [f"2013-01-{day:02}" for day in range(1, 8)]


@pytest.fixture(scope="module")
def shop(airflow: Airflow) -> Airflow:
    """A Dag that works for each day of another one, and has worked for the first."""
    airflow.write(
        "missed_orders",
        """
        DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-31")

        @asset(schedule=None, partition=DAYS)
        def missed_orders(partition): ...

        @asset(schedule=missed_orders, partition=DAYS)
        def missed_reports(partition): ...
        """,
    )
    airflow.api.patch("dags/missed_reports", {"is_paused": False})
    assert airflow.trigger("missed_orders", DAYS[0]).status_code == 200
    airflow.wait_finished("missed_reports", 1)
    command(airflow, "upkeep")
    return airflow


@pytest.fixture
def page(shop: Airflow) -> Iterator[Page]:
    """The page of what follows, in a browser."""
    token = str(shop.api._client.headers["Authorization"]).removeprefix("Bearer ")
    with chromium() as browser, pages_at(KeptPages(browser), shop.services.address, token) as opens:
        yield opens("/assets/missed_reports")


def miss(shop: Airflow, *keys: str) -> None:
    """Let the Dag be paused while its upstream makes some days."""
    shop.api.patch("dags/missed_reports", {"is_paused": True})
    before = len(shop.events("missed_orders"))
    for key in keys:
        assert shop.trigger("missed_orders", key).status_code == 200
    shop.wait(lambda: len(shop.events("missed_orders")) == before + len(keys), "events of all of them")


def unpause(page: Page, words: str, choice: str, button: str) -> None:
    page.reload()
    settled(page, "missed_reports")
    page.get_by_role("button", name="Unpause: missed_reports").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(words)
    dialog.get_by_text(choice).click()
    dialog.get_by_role("button", name=button).click()
    expect(page.get_by_text("missed_reports is no longer paused")).to_be_visible()
    expect(dialog).to_have_count(0)


def test_what_was_missed_is_skipped_asked_for_or_follows(shop: Airflow, page: Page) -> None:
    miss(shop, *DAYS[1:3])
    unpause(page, "2 partitions of missed_reports follow", "Skip all of them", "Skip and unpause")
    assert command(shop, "upkeep")["caught_up"] == 0
    assert shop.keys("missed_reports") == DAYS[:1]

    miss(shop, *DAYS[3:5])
    unpause(page, "2 partitions of missed_reports follow", "Ask for them in portions", "Unpause and ask")
    shop.wait_finished("missed_reports", 3)
    assert command(shop, "upkeep")["caught_up"] == 0
    assert sorted(shop.keys("missed_reports")) == [DAYS[0], *DAYS[3:5]]

    miss(shop, *DAYS[5:7])
    unpause(page, "2 partitions of missed_reports follow", "Let all of them follow", "Unpause: 2 partitions follow")
    assert command(shop, "upkeep")["caught_up"] == 2
    shop.wait_finished("missed_reports", 5)
    assert sorted(shop.events("missed_reports")) == [DAYS[0], *DAYS[3:7]]
