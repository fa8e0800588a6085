"""The calendar of an asset: weeks and weekdays, by which one sees what is missing on every Sunday."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.view.conftest import Opens, faults_of_access
from tests.view.test_pages import follow, settled, standing_out


def calendar(page: Page, asset: str) -> Locator:
    """The calendar, once its days are there."""
    grid = page.get_by_role("grid", name=f"Calendar of {asset}")
    expect(grid.locator("[data-day]").first).to_be_visible()
    return grid


def day(grid: Locator, date: str) -> Locator:
    return grid.get_by_role("gridcell", name=re.compile(f"^{date}[,:]"))


def test_what_is_missing_on_every_sunday_is_a_line_that_one_selects_and_fills(opens: Opens) -> None:
    page = opens("/assets/deliveries")
    settled(page, "deliveries")
    page.get_by_label("Show as").select_option("calendar")
    grid = calendar(page, "deliveries")
    assert "calendar=" in page.url
    sundays = grid.get_by_role("row").filter(has=page.get_by_role("button", name="Select every Sunday"))
    words = [str(one.get_attribute("aria-label")) for one in sundays.locator("[data-day]").all()]
    assert [text for text in words if "1 missing" not in text] == ["2023-11-05, 1 failed"]
    assert len(words) == 53
    mondays = grid.get_by_role("row").filter(has=page.get_by_role("button", name="Select every Monday"))
    assert not any("missing" in str(one.get_attribute("aria-label")) for one in mondays.locator("[data-day]").all())
    page.get_by_role("button", name="Select every Sunday").click()
    expect(page.get_by_text("53 partitions selected")).to_be_visible()
    expect(day(grid, "2023-06-04")).to_have_attribute("aria-selected", "true")
    expect(day(grid, "2023-06-05")).to_have_attribute("aria-selected", "false")
    page.get_by_role("group", name="Actions").get_by_role("button", name="Fill missing").click()
    expect(page.get_by_role("dialog").get_by_role("button", name="Materialize 52 partitions")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Select every Sunday").click()
    expect(page.get_by_text("53 partitions selected")).to_have_count(0)


def test_all_of_it_goes_by_keys(opens: Opens) -> None:
    page = opens("/assets/deliveries?calendar=")
    settled(page, "deliveries")
    grid = calendar(page, "deliveries")
    day(grid, "2023-12-28").focus()
    page.keyboard.press("ArrowLeft")
    expect(day(grid, "2023-12-21")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(day(grid, "2023-12-20")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_text("1 partition selected")).to_be_visible()
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.get_by_text("8 partitions selected")).to_be_visible()
    expect(grid.locator("[data-day][tabindex='0']")).to_have_count(1)
    page.keyboard.press("Enter")
    settled(page, "2023-12-13")


def test_days_are_dragged_over_and_all_in_view_are_selected(opens: Opens) -> None:
    page = opens("/assets/deliveries?calendar=", viewport={"width": 390, "height": 844})
    settled(page, "deliveries")
    grid = calendar(page, "deliveries")
    expect(day(grid, "2023-12-30")).to_be_in_viewport()  # on a phone, too, the newest is seen first
    day(grid, "2023-12-12").hover()
    page.mouse.down()
    day(grid, "2023-12-15").hover()
    page.mouse.up()
    expect(page.get_by_text("4 partitions selected")).to_be_visible()
    page.get_by_role("button", name="Select all in view").click()
    expect(page.get_by_text("365 partitions selected")).to_be_visible()


def test_days_of_hours_are_those_of_their_zone_and_of_other_years(opens: Opens) -> None:
    page = opens("/assets/hourly_departures?calendar=")
    settled(page, "hourly_departures")
    grid = calendar(page, "hourly_departures")
    for date, count in (("2024-03-10", 23), ("2024-11-03", 25), ("2024-07-04", 24)):
        words = str(day(grid, date).get_attribute("aria-label"))
        assert sum(int(number) for number in re.findall(r"(\d+) [a-z]+", words.rpartition("), ")[2])) == count, words
    day(grid, "2024-03-10").hover()
    expect(page.get_by_text("2024-03-10 to 2024-03-11 (America/New_York)")).to_be_visible()
    day(grid, "2024-03-10").click(modifiers=["ControlOrMeta"])
    expect(page.get_by_text("23 partitions selected")).to_be_visible()
    follow(page, page.url.replace("hourly_departures", "region_days").split("?")[0] + "?calendar=")
    settled(page, "region_days")
    grid = calendar(page, "region_days")
    expect(day(grid, "2024-01-02")).to_be_visible()
    page.get_by_role("button", name="Year before").click()
    expect(day(grid, "2023-01-02")).to_be_visible()
    expect(day(grid, "2024-01-02")).to_have_count(0)


@pytest.mark.parametrize("width", [360, 1280])
def test_days_show_a_value_by_the_scale_of_the_picture(opens: Opens, width: int) -> None:
    page = opens("/assets/deliveries?calendar=", viewport={"width": width, "height": 900}, color_scheme="dark")
    settled(page, "deliveries")
    grid = calendar(page, "deliveries")
    page.get_by_role("combobox", name="Colour by").select_option("Rows written")
    expect(page).to_have_url(re.compile("value=rows"))
    legend = page.get_by_role("group", name="Legend")
    expect(legend).to_contain_text("▲ the largest 1 %, up to 1,000,000,000,000")
    expect(legend).to_contain_text("151 partitions of 303 tell none")
    much = day(grid, "2023-03-02")
    words = "Rows written: 1,000,000,000,000 (among the largest 1 %)"
    expect(much).to_have_attribute("aria-label", f"2023-03-02, 1 materialized, {words}")
    much.hover()
    expect(page.get_by_text(words, exact=True)).to_be_visible()
    page.mouse.move(0, 0)
    day(grid, "2023-02-27").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expect(much).to_be_focused()
    expect(page.get_by_text(words, exact=True)).to_be_visible()
    expect(day(grid, "2023-03-05")).to_have_attribute("aria-label", "2023-03-05, 1 missing, Rows written: not told")
    shades = ["2023-03-02", "2023-03-04", "2023-03-06", "2023-03-05", "2023-03-03"]
    much_shade, saturday, monday, sunday, untold = (shade(page, grid, date) for date in shades)
    assert monday != saturday  # the more, the more of the colour
    assert much_shade != saturday  # and outside of the scale there is a mark
    assert sunday == untold
    assert faults_of_access(page) == []
    assert standing_out(page) <= 0
    page.get_by_role("combobox", name="Colour by").select_option("Colour by state")
    expect(legend).to_have_count(0)
    expect(much).to_have_attribute("aria-label", "2023-03-02, 1 materialized")


def shade(page: Page, grid: Locator, date: str) -> list[int]:
    """What is drawn near the upper edge of a day, where no mark of a state is."""
    there: list[int] = day(grid, date).evaluate(
        """element => {
          const canvas = element.closest('[role=grid]').querySelector('canvas');
          const [box, area] = [element.getBoundingClientRect(), canvas.getBoundingClientRect()];
          const ratio = canvas.width / area.width;
          const [x, y] = [box.left - area.left + box.width / 2, box.top - area.top + 2];
          return [...canvas.getContext('2d').getImageData(x * ratio, y * ratio, 1, 1).data];
        }"""
    )
    return there


def test_a_day_of_hours_shows_their_mean_and_dragging_selects_as_without_a_value(opens: Opens) -> None:
    page = opens("/assets/hourly_departures?calendar=&value=rows")
    settled(page, "hourly_departures")
    grid = calendar(page, "hourly_departures")
    expect(page.get_by_role("group", name="Legend")).to_contain_text("A cell shows the mean of its partitions.")
    words = re.compile(r", 23 materialized, Rows written: 412 \(mean\)$")
    expect(day(grid, "2024-03-10")).to_have_attribute("aria-label", words)
    day(grid, "2024-06-03").hover()
    page.mouse.down()
    day(grid, "2024-06-04").hover()
    page.mouse.up()
    expect(page.get_by_text("48 partitions selected")).to_be_visible()


@pytest.mark.parametrize("path", ["/assets/months", "/assets/airports", "/assets/customers"])
def test_nothing_is_offered_where_there_are_no_days(opens: Opens, path: str) -> None:
    page = opens(path)
    settled(page, path.rsplit("/", 1)[1])
    expect(page.get_by_label("Show as").get_by_role("option")).to_have_text(["Show as picture", "Show as table"])
