"""Every task of a Dag, partition by partition: which step fails, and on which days."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.view.conftest import Opens, faults_of_access
from tests.view.test_pages import settled, standing_out


def matrix(page: Page) -> Locator:
    """The tasks, once they are there."""
    grid = page.get_by_role("grid", name="Tasks of steps")
    expect(grid.locator("[data-cell]").first).to_be_visible()
    return grid


def cell(grid: Locator, task: str, day: str) -> Locator:
    return grid.locator(f"[aria-label^='{task}, {day}, ']")


def test_a_cell_tells_what_became_of_a_task_and_leads_to_airflows_page_of_it(opens: Opens) -> None:
    page = opens("/assets/steps")
    settled(page, "steps")
    page.get_by_label("Show as").select_option("tasks")
    grid = matrix(page)
    expect(page).to_have_url(re.compile("tasks="))
    assert [name.inner_text() for name in grid.get_by_role("rowheader").all()] == [
        "partition", "load", "clean", "write", "announce",
    ]  # fmt: skip
    failed = cell(grid, "clean", "2013-03-17")
    expect(failed).to_have_attribute("aria-label", "clean, 2013-03-17, failed, 3 tries, 1 min 25 s")
    expect(cell(grid, "write", "2013-03-17")).to_have_attribute("aria-label", "write, 2013-03-17, upstream failed")
    expect(cell(grid, "load", "2013-03-31")).to_have_attribute("aria-label", "load, 2013-03-31, no run")
    expect(cell(grid, "write", "2013-03-29")).to_have_attribute("aria-label", "write, 2013-03-29, not begun")
    failed.hover()
    expect(page.get_by_text("failed, 3 tries, 1 min 25 s", exact=True)).to_be_visible()
    expect(page.get_by_role("group", name="Legend")).to_contain_text("2 up for retry")
    failed.click()
    expect(page).to_have_url(re.compile(r"/dags/steps/runs/steps%202013-03-17[^/]*/tasks/clean$"))


def test_all_of_it_goes_by_keys(opens: Opens) -> None:
    page = opens("/assets/steps?tasks=")
    settled(page, "steps")
    grid = matrix(page)
    expect(grid.locator("[tabindex='0']")).to_have_count(1)
    grid.locator("[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    expect(cell(grid, "clean", "2013-03-29")).to_be_focused()
    expect(page.get_by_text("up for retry, 1 try, 1 min 25 s", exact=True)).to_be_visible()
    expect(grid.locator("[tabindex='0']")).to_have_count(1)
    page.keyboard.press("End")
    expect(cell(grid, "clean", "2013-03-31")).to_be_focused()  # a cell without a run is reached, too
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    settled(page, "2013-03-31")


def test_pages_lead_back_in_time_and_a_selection_narrows_them(opens: Opens) -> None:
    page = opens("/assets/steps?tasks=", viewport={"width": 900, "height": 800})
    settled(page, "steps")
    grid = matrix(page)
    expect(cell(grid, "load", "2013-03-31")).to_be_visible()
    page.get_by_role("button", name="Older").click()
    expect(cell(grid, "load", "2013-03-31")).to_have_count(0)
    expect(page).to_have_url(re.compile("before=2013-"))
    page.reload()
    expect(cell(matrix(page), "load", "2013-03-31")).to_have_count(0)  # the address says which ones
    page.get_by_role("button", name="Newer").click()
    expect(cell(grid, "load", "2013-03-31")).to_be_visible()
    field = page.get_by_role("textbox", name="Selected partitions, as text")
    field.fill("2013-01-01..2013-01-08")
    field.press("Enter")
    expect(cell(grid, "clean", "2013-01-06")).to_have_attribute("aria-label", re.compile("failed"))
    expect(grid.get_by_role("row").first.get_by_role("gridcell")).to_have_count(7)


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_it_can_be_read_by_all_and_nothing_stands_out(opens: Opens, width: int, scheme: str) -> None:
    page = opens("/assets/steps?tasks=", viewport={"width": width, "height": 900}, color_scheme=scheme)
    settled(page, "steps")
    matrix(page)
    assert faults_of_access(page) == []
    assert standing_out(page) <= 0


def test_it_is_offered_only_where_a_dag_has_several_tasks(opens: Opens) -> None:
    for asset, forms in (
        ("steps", ["Show as picture", "Show as calendar", "Show tasks", "Show as table"]),
        ("days", ["Show as picture", "Show as calendar", "Show as table"]),
    ):
        page = opens(f"/assets/{asset}")
        settled(page, asset)
        expect(page.get_by_label("Show as").get_by_role("option")).to_have_text(forms)
