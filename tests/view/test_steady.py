"""Nothing moves under the mouse while what is shown comes in, and nothing is said before it is known."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.view.conftest import Opens

#: Notes by how much each part of the page that is ours moves down or up by itself.
WATCH = """
window.moved = [];
new PerformanceObserver(list => {
  for (const entry of list.getEntries())
    for (const { node, previousRect, currentRect } of entry.sources)
      if (node instanceof Element && node.closest('[data-scroll]') && previousRect.y !== currentRect.y)
        window.moved.push(`${node.outerHTML.slice(0, 80)}: ${previousRect.y} to ${currentRect.y}`);
}).observe({ type: 'layout-shift', buffered: true });
"""


def slowly(*parts: str) -> Callable[[Page], None]:
    """What lets the answers of *parts* of REST come half a second late."""

    def late(route: Route) -> None:
        time.sleep(0.5)
        route.continue_()

    def delay(page: Page) -> None:
        for part in parts:
            page.route(f"**/asset-partitions/api/v1/**/{part}*", late)

    return delay


@pytest.mark.parametrize("asset", ["days", "airport_days", "hourly_departures"])
@pytest.mark.parametrize("width", [390, 1280])
def test_eo8_nothing_moves_while_the_picture_comes(opens: Opens, asset: str, width: int) -> None:
    late = slowly("grid", "materializations", "states", "partitions/*")
    page = opens(f"/assets/{asset}", before=late, viewport={"width": width, "height": 900}, script=WATCH)
    expect(page.get_by_role("slider", name="Part of all partitions that is shown")).to_be_visible()
    expect(page.get_by_role("application", name=f"Partitions of {asset}")).to_be_visible()
    expect(page.get_by_role("region", name="Failed partitions").get_by_role("link").first).to_be_visible()
    expect(page.get_by_role("region", name="Newest materialization").get_by_role("figure").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.moved") == []


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_nothing_moves_while_the_charts_of_a_partition_come(opens: Opens, width: int) -> None:
    late, screen = slowly("assets/days", "materializations"), {"width": width, "height": 2000}
    page = opens("/assets/days/partitions/2013-02-07", before=late, viewport=screen, script=WATCH)
    charts = page.get_by_role("region", name="Work, beside the partitions before it")
    expect(charts.get_by_role("figure")).to_have_count(4)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.moved") == []


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_moves_while_the_board_comes(opens: Opens, width: int) -> None:
    late, screen = slowly("board"), {"width": width, "height": 900}
    page = opens("/board?days=90&until=2013-04-01T00:00:00Z", before=late, viewport=screen, script=WATCH)
    expect(page.get_by_role("application", name="Partitions of all assets over time")).to_be_visible()
    expect(page.get_by_role("link", name="mart_0_clean")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.moved") == []


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_moves_while_the_values_of_a_calendar_come(opens: Opens, width: int) -> None:
    late, screen = slowly("grid", "values"), {"width": width, "height": 900}
    page = opens("/assets/deliveries?calendar=&value=rows", before=late, viewport=screen, script=WATCH)
    expect(page.get_by_role("group", name="Legend")).to_contain_text("tell none")
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.moved") == []


def test_en10_nothing_is_said_of_rights_before_they_are_known(opens: Opens) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    def block(page: Page) -> None:
        page.route("**/asset-partitions/api/v1/assets/days", hold)

    page = opens("/assets/days/partitions/2013-02-08", before=block)
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    expect(page.get_by_text("You may look at these partitions")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.get_by_role("button", name="Re-run…")).to_be_visible()
