"""What one does on the pages: see what is wrong, find out why, mend it, and watch it turn."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import select, update

from tests.metadata import Metadata
from tests.view.conftest import Opens
from tests.view.running_server import RunningServer
from tests.view.test_pages import settled


def queued(estate: Metadata, dag_id: str) -> list[str]:
    """The keys of a Dag's runs that have yet to begin."""
    from airflow.models.dagrun import DagRun

    query = select(DagRun.partition_key).where(DagRun.dag_id == dag_id, DagRun.state == "queued")
    with estate.engine.connect() as at:
        return sorted(at.scalars(query))


def expect_runs(page: Page, estate: Metadata, dag_id: str, keys: list[str]) -> None:
    """Wait until a Dag has a run for each of the *keys*, and for no other."""
    for _ in range(100):
        if queued(estate, dag_id):
            break
        page.wait_for_timeout(100)
    assert queued(estate, dag_id) == keys


def let_runs_be(estate: Metadata, dag_id: str, key: str, state: str, **values: Any) -> None:
    """What a scheduler does to the run of a key."""
    from airflow.models.dagrun import DagRun

    with estate.engine.begin() as at:
        run = update(DagRun).where(DagRun.dag_id == dag_id, DagRun.partition_key == key)
        at.execute(run.values(state=state, **values))


def picture(page: Page, asset: str) -> Locator:
    """The picture of an asset's partitions."""
    area = page.get_by_role("application", name=f"Partitions of {asset}")
    expect(area).to_be_visible()
    return area


def drag(page: Page, area: Locator, first: int, last: int, columns: int) -> None:
    """Drag over columns of a picture that has so many, from the middle of one to that of another."""
    box = area.bounding_box()
    assert box is not None
    at = [box["x"] + (column + 0.5) * box["width"] / columns for column in (first, last)]
    page.mouse.move(at[0], box["y"] + 10)
    page.mouse.down()
    page.mouse.move(sum(at) / 2, box["y"] + 10)
    page.mouse.move(at[1], box["y"] + 10)
    page.mouse.up()


def confirm(page: Page, words: str) -> None:
    """Go on in the dialog, and see that it is done."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=words, exact=True).click()
    expect(dialog.get_by_text("Asked for")).to_be_visible()
    dialog.get_by_role("button", name="Close").last.click()
    expect(dialog).to_have_count(0)


def test_a_failed_partition_is_seen_explained_mended_and_turns(opens: Opens, estate: Metadata) -> None:
    page = opens()
    settled(page, "partitioned assets")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="days", exact=True))
    expect(row).to_contain_text("2 failed")
    row.get_by_role("link", name="days", exact=True).click()
    settled(page, "days")
    area = picture(page, "days")
    area.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(area).to_contain_text("2013-03-28")
    page.keyboard.press("Enter")
    settled(page, "2013-03-28")
    why = page.get_by_role("region", name="Why")
    expect(why).to_contain_text("failed")
    page.get_by_role("button", name="Re-run").click()
    confirm(page, "Materialize 1 partition")
    heading = page.get_by_role("heading", level=1).locator("xpath=..")
    expect(heading).to_contain_text("queued")
    assert "2013-03-28" in queued(estate, "days")
    let_runs_be(estate, "days", "2013-03-28", "running", start_date=datetime.now(UTC))
    expect(heading).to_contain_text("running")
    estate.emit("days", "2013-03-28", at=datetime.now(UTC), extra={"rows": 842})
    let_runs_be(estate, "days", "2013-03-28", "success", end_date=datetime.now(UTC))
    expect(heading).to_contain_text("materialized")  # without having been loaded again


def test_a_range_selected_by_mouse_is_filled_with_exactly_that(opens: Opens, estate: Metadata) -> None:
    page = opens("/assets/mart_2_clean?start=2013-02-19T00:00:00Z&end=2013-03-31T00:00:00Z")
    settled(page, "mart_2_clean")
    drag(page, picture(page, "mart_2_clean"), 26, 28, 40)
    field = page.get_by_role("textbox", name="Selected partitions, as text")
    expect(field).to_have_value("2013-03-17..2013-03-20")
    expect(page.get_by_text("3 partitions selected")).to_be_visible()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Materialize").click()
    confirm(page, "Materialize 3 partitions")
    expect_runs(page, estate, "mart_2_clean", ["2013-03-17", "2013-03-18", "2013-03-19"])


def test_a_range_selected_by_keys_is_filled_with_exactly_that(opens: Opens, estate: Metadata) -> None:
    page = opens("/assets/mart_3_clean")
    settled(page, "mart_3_clean")
    picture(page, "mart_3_clean").focus()
    for key in (*["ArrowLeft"] * 6, "Shift+ArrowLeft", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    expect(page.get_by_text("3 partitions selected")).to_be_visible()
    page.get_by_role("group", name="Actions").get_by_role("button", name="Materialize").click()
    confirm(page, "Materialize 3 partitions")
    expect_runs(page, estate, "mart_3_clean", ["2013-03-23", "2013-03-24", "2013-03-25"])


def test_a_range_is_typed_and_what_is_no_selection_is_refused_at_the_field(opens: Opens) -> None:
    page = opens("/assets/airport_days")
    settled(page, "airport_days")
    field = page.get_by_role("textbox", name="Selected partitions, as text")
    field.fill("2013-03-01..2013-03-10 & airport in JFK,LGA")
    field.press("Enter")
    expect(page.get_by_text("18 partitions selected")).to_be_visible()
    expect(page).to_have_url(re.compile(r"select="))
    field = page.get_by_role("textbox", name="Selected partitions, as text")
    field.fill("2013-03-01..yesterday")
    field.press("Enter")
    expect(page.get_by_role("region", name="Selection")).to_contain_text("yesterday")


def test_a_link_leads_to_what_somebody_else_has_selected(opens: Opens) -> None:
    page = opens("/assets/airport_days?select=2013-03-01..2013-03-10%20%26%20airport%20in%20JFK,LGA&states=missing")
    settled(page, "airport_days")
    expect(page.get_by_text("14 partitions selected: 14 missing")).to_be_visible()


def test_a_partition_is_marked_and_that_is_taken_back(opens: Opens, server: RunningServer) -> None:
    page = opens("/assets/load_days/partitions/2013-03-20%7CEWR%7Ccargo")
    settled(page, "2013-03-20")
    heading = page.get_by_role("heading", level=1).locator("xpath=..")
    expect(heading).to_contain_text("missing")
    page.get_by_role("button", name="Mark").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Mark")).last.click()
    expect(heading).to_contain_text("materialized")
    page.get_by_role("button", name="Undo").click()
    expect(heading).to_contain_text("missing")


def test_pasted_keys_are_asked_for_and_what_is_none_is_told_with_its_line(opens: Opens, estate: Metadata) -> None:
    page = opens("/assets/mart_6_clean")
    settled(page, "mart_6_clean")
    page.get_by_role("button", name="Paste keys").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_role("textbox", name="Partitions")
    field.fill("# late files\n2013-03-29\n2013-03-32\n2013-03-30")
    dialog.get_by_role("button", name="Materialize").click()
    expect(dialog.get_by_text("line 3: '2013-03-32' is not a partition of")).to_be_visible()
    field.fill("# late files\n2013-03-29\n2013-03-31")
    confirm(page, "Materialize 2 partitions")
    expect_runs(page, estate, "mart_6_clean", ["2013-03-29", "2013-03-31"])


def test_requests_are_deleted_from_the_list_and_one_at_work_says_why_not(opens: Opens, server: RunningServer) -> None:
    with server.client() as client:
        numbers = []
        for key in ("2013-03-29", "2013-03-30"):
            made = client.post("/assets/mart_4_joined/requests", json={"select": key}).raise_for_status().json()
            numbers.append(made["requests"][0]["id"])
        ended, at_work = numbers
        client.post(f"/requests/{ended}/cancel", json={}).raise_for_status()
        page = opens("/requests?asset=mart_4_joined")
        settled(page, "Requests")
        for number in numbers:
            page.get_by_role("checkbox", name=f"Choose request {number}").check(force=True)
        page.get_by_role("button", name="Delete (2)").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text(f"request {at_work} is running, so it can't be deleted")
        dialog.get_by_role("button", name="Delete 1 request").click()
        expect(dialog).to_have_count(0)
        expect(page.get_by_role("checkbox", name=f"Choose request {ended}")).to_have_count(0)
        assert client.get(f"/requests/{ended}").status_code == 404


@pytest.mark.parametrize("path", ["/requests", "/doctor"])
def test_all_may_look_at_requests_and_problems(opens: Opens, path: str) -> None:
    page = opens(path, user="viewer")
    settled(page, path[1:].capitalize())
