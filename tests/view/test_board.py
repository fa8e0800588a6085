"""All assets over one stretch of time: from a red cell to its cause, with the mouse and by keys alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.view.conftest import Opens, faults_of_access
from tests.view.test_pages import settled, standing_out

WINTER = "/board?days=90&until=2013-04-01T00:00:00Z"
DAYS = 90


def strip(page: Page, asset: str) -> Locator:
    """The cells of an asset."""
    cells = page.locator(f"[data-strip='{asset}']")
    expect(cells).to_be_visible()
    return cells


def at(page: Page, asset: str, day: int) -> tuple[float, float]:
    """The middle of the cell of a day of the winter."""
    box = strip(page, asset).bounding_box()
    assert box is not None
    return box["x"] + (day + 0.5) * box["width"] / DAYS, box["y"] + box["height"] / 2


def told(page: Page) -> Locator:
    """What is told of the cells that are picked."""
    return page.get_by_role("region", name="What was picked")


def pick(page: Page, asset: str, first: int, last: int | None = None, other: str | None = None) -> Locator:
    """Click on the cell of a day of the winter, or drag to another, also of another asset; what is told of it."""
    page.mouse.move(*at(page, asset, first))
    page.mouse.down()
    page.mouse.move(*at(page, other or asset, first if last is None else last), steps=4)
    page.mouse.up()
    return told(page)


def test_a_red_cell_tells_its_cause_and_leads_to_its_partition(opens: Opens) -> None:
    page = opens(WINTER)
    settled(page, "Board")
    picked = pick(page, "days", 38)
    expect(picked.get_by_role("heading")).to_have_text("days 2013-02-08")
    expect(picked).to_contain_text("3 of 842 departures have no airport")
    expect(picked.get_by_role("button", name="Re-run…")).to_be_visible()
    picked.get_by_role("link", name="Open the partition").click()
    expect(page).to_have_url(re.compile(r"/assets/days/partitions/2013-02-08$"))


def test_several_cells_tell_what_failed_of_them_and_can_be_filled(opens: Opens) -> None:
    page = opens(WINTER)
    picked = pick(page, "airport_days", 59, 63)
    expect(picked.get_by_role("heading").first).to_have_text("airport_days 2013-03-01 to 2013-03-05")
    expect(picked).to_contain_text("4 failed")
    expect(picked.get_by_role("region", name="Failed partitions").get_by_role("link")).to_have_count(4)
    picked.get_by_role("button", name="Fill missing (24)").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Materialize 24 partitions")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    picked.get_by_role("link", name="Open in its picture").click()
    expect(page.get_by_role("application", name="Partitions of airport_days")).to_be_visible()
    expect(told(page)).to_have_count(0)


def test_all_assets_on_the_board_are_filled_by_one_plan(opens: Opens) -> None:
    page = opens(f"{WINTER}&dag=days")
    picked = pick(page, "airport_days", 59, 63)
    # They come above the button: while it moves, the pointer comes up beside it.
    expect(picked.get_by_role("region", name="Failed partitions").get_by_role("link")).to_have_count(4)
    picked.get_by_role("button", name=re.compile(r"^Fill this time of \d+ assets$")).click()
    dialog = page.get_by_role("dialog")
    steps = dialog.get_by_role("group", name="Steps of the plan")
    expect(steps.get_by_role("row").filter(has_text="airport_days")).to_contain_text("2013-03-0")
    expect(dialog.get_by_role("button", name=re.compile(r"^Materialize \d+ partitions$"))).to_be_enabled()
    assert faults_of_access(page) == []
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Fill what is missing").click()
    expect(dialog).to_contain_text("to 2013-04-01")
    dialog.get_by_text("waiting", exact=True).click()
    expect(dialog.get_by_role("checkbox", name="waiting")).not_to_be_checked()
    dialog.get_by_role("button", name="Cancel").click()


def test_filters_and_the_period_stand_in_the_address(opens: Opens) -> None:
    page = opens(WINTER)
    expect(strip(page, "mart_1_report")).to_be_visible()
    page.get_by_role("combobox", name="Filter by Dag").select_option("mart_1_joined")
    expect(page.locator("[data-strip]")).to_have_count(3)  # with what it waits for and what waits for it
    page.get_by_role("searchbox", name="Search assets").fill("report")
    expect(page.locator("[data-strip]")).to_have_count(1)
    page.get_by_text("A year", exact=True).click()
    for part in ("days=365", "until=2013-04-01", "search=report", "dag=mart_1_joined"):
        expect(page).to_have_url(re.compile(part))
    page.reload()
    expect(page.locator("[data-strip]")).to_have_count(1)
    page.get_by_role("button", name="Earlier").click()
    expect(page.get_by_text("no partitions here")).to_be_visible()
    page.get_by_role("button", name="Now", exact=True).click()
    expect(page).not_to_have_url(re.compile("until="))


def test_what_has_no_time_says_so_and_what_is_folded_opens(opens: Opens) -> None:
    page = opens(f"{WINTER}&search=airport")
    expect(page.get_by_text("no time: 1 failed, 6 materialized")).to_be_visible()
    page.get_by_role("button", name="Rows of airport_days by airport").click()
    expect(page.locator("[data-strip^='airport_days ']")).to_have_count(7)
    picked = pick(page, "airport_days JFK", 61)
    expect(picked.get_by_role("heading").first).to_have_text("airport_days 2013-03-03 | JFK")
    expect(picked.get_by_role("link", name="Open the partition")).to_be_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_keys_alone_lead_from_a_red_cell_to_its_cause(opens: Opens, width: int) -> None:
    page = opens(f"{WINTER}&search=mart_1", viewport={"width": width, "height": 900}, color_scheme="dark")
    board = page.get_by_role("application", name="Partitions of all assets over time")
    expect(strip(page, "mart_1_clean")).to_be_visible()
    board.focus()
    for key in ("End", "ArrowDown", *["ArrowLeft"] * 12):
        board.press(key)
    expect(board.locator("[aria-live]")).to_have_text("mart_1_joined, 2013-03-19, 1 failed")
    board.press("Enter")
    picked = told(page)
    expect(picked.get_by_role("heading")).to_have_text("mart_1_joined 2013-03-19")
    expect(picked).to_contain_text("no exception was noted")
    assert faults_of_access(page) == []
    assert standing_out(page) <= 0
    board.press("Escape")
    expect(picked).to_have_count(0)


def test_a_rectangle_is_dragged_and_exactly_that_is_filled(opens: Opens) -> None:
    page = opens(f"{WINTER}&search=mart_1")
    before = strip(page, "mart_1_report").bounding_box()
    picked = pick(page, "mart_1_report", 79, 75, "mart_1_clean")
    expect(picked.get_by_role("heading")).to_have_text("3 assets, 2013-03-17 to 2013-03-22 (UTC)")
    expect(picked).to_contain_text(re.compile(r"1\s*failed\s*7\s*missing\s*7\s*materialized"))
    expect(picked).not_to_contain_text("Left out")
    assert strip(page, "mart_1_report").bounding_box() == before  # nothing has moved
    page.mouse.move(1, 1)
    expect(page.get_by_text("2013-03-17 to 2013-03-18 (UTC)")).to_have_count(0)  # no note lies above what is told
    with page.expect_request("**/api/v1/fill") as request:
        picked.get_by_role("button", name="Fill 3 assets…").click()
    asked = request.value.post_data_json
    assert asked["asset"] == ["mart_1_clean", "mart_1_joined", "mart_1_report"]
    assert (asked["since"], asked["until"]) == ("2013-03-17T00:00:00.000Z", "2013-03-22T00:00:00.000Z")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Partitions of 3 assets that begin from 2013-03-17 to 2013-03-22")
    expect(dialog.get_by_role("button", name="Materialize 8 partitions")).to_be_enabled()
    assert faults_of_access(page) == []
    dialog.get_by_role("button", name="Cancel").click()
    picked.get_by_role("button", name="Close").click()
    expect(picked).to_have_count(0)


def test_a_rectangle_tells_what_it_leaves_out(opens: Opens) -> None:
    page = opens(f"{WINTER}&search=air")
    picked = pick(page, "airport_days", 60, 62, "airports")
    expect(picked.get_by_role("heading")).to_have_text("2 assets, 2013-03-02 to 2013-03-05 (UTC)")
    expect(picked).to_contain_text("Left out of the fill: 1 asset without time.")
    expect(picked.get_by_role("button", name="Fill 1 asset…")).to_be_enabled()
    picked = pick(page, "airports", 0)  # a click without a drag is one cell, as ever
    expect(picked.get_by_role("heading")).to_have_text("airports all partitions")
    page = opens(f"{WINTER}&search=days", user="editor")
    picked = pick(page, "days", 14, 16, "airport_days")
    expect(picked).to_contain_text("Left out of the fill: 1 asset that you may not change.")
    expect(picked.get_by_role("button", name="Fill 1 asset…")).to_be_enabled()
    page = opens(f"{WINTER}&search=mart_1", user="viewer")
    picked = pick(page, "mart_1_clean", 14, 16, "mart_1_joined")
    expect(picked.get_by_role("button", name="Fill 0 assets…")).to_be_disabled()


@pytest.mark.parametrize("width", [360, 1280])
def test_a_rectangle_is_marked_by_keys_alone(opens: Opens, width: int) -> None:
    page = opens(f"{WINTER}&search=mart_1", viewport={"width": width, "height": 900})
    board = page.get_by_role("application", name="Partitions of all assets over time")
    expect(strip(page, "mart_1_clean")).to_be_visible()
    said = board.locator("[aria-live]")
    mark = [*["ArrowLeft"] * 10, *["Shift+ArrowLeft"] * 4, *["Shift+ArrowDown"] * 2]
    words = "3 assets, 2013-03-17 to 2013-03-22, 1 failed, 7 missing, 7 materialized, marked"
    board.focus()
    for key in ("End", *mark):
        board.press(key)
    expect(said).to_have_text(words)
    expect(told(page)).to_have_count(0)
    board.press("Escape")
    expect(said).to_have_text("mart_1_report, 2013-03-17, 1 missing")
    for key in ("ArrowUp", "ArrowUp", "End", *mark):
        board.press(key)
    expect(said).to_have_text(words)
    board.press("Enter")
    expect(told(page).get_by_role("heading")).to_have_text("3 assets, 2013-03-17 to 2013-03-22 (UTC)")
    expect(told(page).get_by_role("button", name="Fill 3 assets…")).to_be_enabled()
    assert faults_of_access(page) == []
    assert standing_out(page) <= 0
    board.press("Escape")
    expect(told(page)).to_have_count(0)


def swipe(page: Page, *places: tuple[float, float]) -> None:
    """Draw a finger from place to place, as slowly as the page draws: it would else see only where it ends."""
    fingers = page.context.new_cdp_session(page)
    events = [("touchStart", places[0]), *(("touchMove", place) for place in places[1:])]
    for kind, (x, y) in events:
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


#: Whether the page stands where it stood when this was asked last: it glides on when a finger has gone.
STANDS = """() => {
  const { scrollTop } = document.querySelector('[data-scroll]');
  const stands = window.stood === scrollTop;
  window.stood = scrollTop;
  return stands;
}"""


def test_a_finger_marks_sideways_and_scrolls_up_and_down(opens: Opens) -> None:
    page = opens(WINTER, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    settled(page, "Board")
    top = page.locator("[data-scroll]")
    x, y = at(page, "mart_0_clean", 40)
    swipe(page, (x, y), (x + 1, y - 40), (x + 2, y - 120), (x + 2, y - 200))
    page.wait_for_function("document.querySelector('[data-scroll]').scrollTop > 50")
    page.wait_for_function(STANDS, polling=300)
    expect(told(page)).to_have_count(0)
    scrolled = top.evaluate("element => element.scrollTop")
    x, y = at(page, "mart_0_clean", 40)
    swipe(page, (x, y), (x + 20, y), (x + 40, y + 5), at(page, "mart_0_report", 50))
    expect(told(page).get_by_role("heading")).to_have_text("3 assets, 2013-02-10 to 2013-02-21 (UTC)")
    assert top.evaluate("element => element.scrollTop") == scrolled
    x, y = at(page, "mart_0_joined", 40)
    page.touchscreen.tap(x, y)
    expect(told(page).get_by_role("heading")).to_have_text("mart_0_joined 2013-02-10")


def test_the_wheel_scrolls_the_page_over_the_cells(opens: Opens) -> None:
    page = opens(WINTER, viewport={"width": 1280, "height": 600})
    settled(page, "Board")
    page.mouse.move(*at(page, "days", 40))
    page.mouse.wheel(0, 300)
    page.wait_for_function("document.querySelector('[data-scroll]').scrollTop > 100")
    expect(told(page)).to_have_count(0)
