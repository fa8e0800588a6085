"""Each page of the view, at its address, in both themes, on screens of all sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.view.conftest import Opens, faults_of_access
from tests.view.dags import NAMES
from tests.view.running_server import RunningServer

LONG = NAMES[-1]
#: What each address has for a heading.
PAGES = {
    "": "partitioned assets",
    "/assets/days": "days",
    "/assets/hourly_departures": "hourly_departures",
    "/assets/deliveries?calendar=": "deliveries",
    "/assets/steps?tasks=": "steps",
    "/assets/region_days": "region_days",
    "/assets/airport_days": "airport_days",
    "/assets/load_days": "load_days",
    "/assets/airports": "airports",
    "/assets/customers": "customers",
    "/assets/nothing_yet": "nothing_yet",
    "/assets/single": "single",
    f"/assets/{quote('s3://lake/hours', safe='')}": "s3://lake/hours",
    "/assets/days/partitions/2013-02-08": "2013-02-08",
    f"/assets/airport_days/partitions/2013-01-05%7C{quote(LONG)}": LONG,
    "/board?days=90&until=2013-04-01T00:00:00Z": "Board",
    "/requests": "Requests",
    "/failures": "Failures",
    "/doctor": "Doctor",
}
SCREENS = {"wide, dark": (2560, 1400), "laptop, light": (1280, 800), "phone, dark": (390, 844)}
#: On this screen each page is loaded by its address; on the others one goes from page to page, in a third of the time.
LOADED = "laptop, light"


def settled(page: Page, heading: str) -> None:
    """Wait until the page has its heading, and all that it loads at first."""
    expect(page.get_by_role("heading", level=1).filter(has_text=heading)).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.locator("[data-scroll] .chakra-skeleton")).to_have_count(0)


@pytest.mark.parametrize("screen", SCREENS)
def test_all_pages_can_be_read_by_all_and_nothing_stands_out(opens: Opens, server: RunningServer, screen: str) -> None:
    assert faults_on(opens(**options_of(screen)), server.address, PAGES, by_links=screen != LOADED) == {}


def options_of(screen: str) -> dict[str, Any]:
    """What Playwright needs to know of a screen."""
    width, height = SCREENS[screen]
    return {"viewport": {"width": width, "height": height}, "color_scheme": screen.rpartition(" ")[2]}


def faults_on(page: Page, address: str, headings: Mapping[str, str], *, by_links: bool = False) -> dict[str, list[str]]:
    """The faults of each of the pages that has some; *headings* by path.

    :param by_links: go from one to the next as links of the view do.
    """
    faults: dict[str, list[str]] = {}
    with requests_of(page) as requests:
        for path, heading in headings.items():
            url = f"{address}/plugin/partitions{path}"
            if by_links:
                follow(page, f"{address}/plugin/partitions/nothing/here")
                settled(page, "No such page")  # else the heading of the page before may do for this one's
                follow(page, url)
            else:
                page.goto(url)
            settled(page, heading)
            wait_until_idle(page, requests)
            faults[path] = faults_of_access(page)
            if (past := standing_out(page)) > 0:
                faults[path].append(f"{past} pixels wider than the screen")
    return {path: some for path, some in faults.items() if some}


def follow(page: Page, url: str) -> None:
    """Go to another page of the view as by a link."""
    page.evaluate("url => { history.pushState(null, '', url); dispatchEvent(new PopStateEvent('popstate')) }", url)


@contextmanager
def requests_of(page: Page) -> Iterator[set[Request]]:
    """The requests of a page that have no answer yet."""
    requests: set[Request] = set()

    def begin(request: Request) -> None:
        requests.add(request)

    def end(request: Request) -> None:
        requests.discard(request)

    page.on("request", begin)
    page.on("requestfinished", end)
    page.on("requestfailed", end)
    try:
        yield requests
    finally:
        page.remove_listener("request", begin)
        page.remove_listener("requestfinished", end)
        page.remove_listener("requestfailed", end)


def wait_until_idle(page: Page, requests: set[Request]) -> None:
    """Wait as for ``networkidle``, which a page is at once that was not loaded anew."""
    quiet, step = 0, 50
    while quiet < 500:
        page.wait_for_timeout(step)
        quiet = 0 if requests else quiet + step


def standing_out(page: Page) -> int:
    """How many pixels the page is wider than the screen."""
    sides: list[int] = page.evaluate("(e => [e.scrollWidth, e.clientWidth])(document.querySelector('[data-scroll]'))")
    return sides[0] - sides[1]


def test_the_long_path_of_a_file_stands_out_of_no_phone(opens: Opens) -> None:
    def lengthen(route: Route) -> None:
        answer = route.fetch()
        asset = answer.json()
        for source in asset["sources"]:
            source["file"] = "of_a_team_with_a_long_name/" + "x" * 80 + ".py"
        route.fulfill(response=answer, json=asset)

    def change(page: Page) -> None:
        page.route("**/asset-partitions/api/v1/assets/days", lengthen)

    page = opens("/assets/days", before=change, viewport={"width": 390, "height": 844})
    expect(page.get_by_text("in of_a_team_with_a_long_name/xxx")).to_be_visible()
    assert standing_out(page) <= 0


def test_what_failed_is_found_behind_thousands_that_did_not(opens: Opens) -> None:
    page = opens("/assets/region_days")
    failed = page.get_by_role("region", name="Failed partitions")
    expect(failed).to_contain_text("(150)")
    expect(failed).to_contain_text("no task failed: the run took too long")
    expect(failed.get_by_role("link")).to_have_text(["2023-12-06|region-00", "2023-12-08|region-49"])


def test_an_address_that_leads_nowhere_says_so(opens: Opens) -> None:
    page = opens("/nothing/here")
    expect(page.get_by_role("heading", name="No such page")).to_be_visible()
    page.get_by_role("link", name="All assets").click()
    settled(page, "partitioned assets")


def test_an_asset_that_there_is_not_names_the_nearest(opens: Opens) -> None:
    page = opens("/assets/dayz")
    expect(page.get_by_role("alert")).to_contain_text("no Dag makes or waits for partitions of an asset 'dayz'")
    page.get_by_role("alert").get_by_role("link", name="days", exact=True).click()
    settled(page, "days")


def test_the_dag_has_a_tab_of_its_assets(opens: Opens, server: RunningServer) -> None:
    page = opens()
    page.goto(f"{server.address}/dags/days")
    page.get_by_role("link", name="Partitions", exact=True).last.click()
    expect(page).to_have_url(f"{server.address}/dags/days/plugin/partitions-of-dag")
    expect(page.get_by_text("failed", exact=False).first).to_be_visible()
