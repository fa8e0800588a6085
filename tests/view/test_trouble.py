"""What a page does when something is not as it should be."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from tests.metadata import Metadata
from tests.view.browser import KeptPages
from tests.view.conftest import Opens, pages
from tests.view.running_server import RunningServer, free_port
from tests.view.test_pages import settled

#: What a button says that changes something.
CHANGES = re.compile(r"^(Materialize|Re-run|Fill|Mark|Forget|Run)\b(?!ed|ing)")


def test_who_may_only_read_is_offered_nothing(opens: Opens) -> None:
    page = opens("/assets/days", user="viewer")
    settled(page, "days")
    expect(page.get_by_role("button", name=CHANGES)).to_have_count(0)
    page = opens("/assets/days/partitions/2013-02-08", user="viewer")
    settled(page, "2013-02-08")
    expect(page.get_by_role("button", name=CHANGES)).to_have_count(0)


def test_who_may_change_one_dag_is_offered_that(opens: Opens) -> None:
    page = opens("/assets/days", user="editor")
    settled(page, "days")
    expect(page.get_by_role("button", name=CHANGES).first).to_be_visible()
    page = opens("/assets/airport_days", user="editor")
    settled(page, "airport_days")
    expect(page.get_by_role("button", name=CHANGES)).to_have_count(0)


@pytest.mark.parametrize("path", ["mark", "requests"])
def test_what_one_may_not_do_is_refused_in_words(server: RunningServer, path: str) -> None:
    with server.client("viewer") as client:
        answer = client.post(f"/assets/days/{path}", json={"select": "2013-02-08"})
    assert answer.status_code == 403
    assert "may not start runs of" in answer.json()["detail"]


def test_a_session_that_is_over_leads_to_the_login_and_back(opens: Opens) -> None:
    page = opens("/assets/days")
    settled(page, "days")
    page.context.clear_cookies()
    page.wait_for_url("**/login**")
    page.fill("input[name=username]", "admin")
    page.fill("input[name=password]", "admin")
    page.keyboard.press("Enter")
    page.wait_for_url("**/plugin/partitions/assets/days*")
    settled(page, "days")


def test_an_asset_that_goes_while_one_looks_says_so(opens: Opens, estate: Metadata) -> None:
    from airflow.models.dag import DagModel

    page = opens("/assets/mart_7_report")
    settled(page, "mart_7_report")
    with estate.engine.begin() as at:
        at.execute(update(DagModel).where(DagModel.dag_id == "mart_7_report").values(is_stale=True))
    try:
        expect(page.get_by_role("alert").first).to_contain_text("which is gone")
    finally:
        with estate.engine.begin() as at:
            at.execute(update(DagModel).where(DagModel.dag_id == "mart_7_report").values(is_stale=False))


def test_a_server_below_a_path(kept: KeptPages, server: RunningServer) -> None:
    below = RunningServer(server.home, free_port(), "/team/airflow")
    below.start()
    try:
        with pages(kept, below) as opens:
            page = opens()
            settled(page, "partitioned assets")
            page.get_by_role("link", name="days", exact=True).first.click()
            settled(page, "days")
            assert page.url.startswith(f"{below.address}/plugin/partitions/assets/days")
            page.context.clear_cookies()
            page.wait_for_url("**/team/airflow/**/login**")
    finally:
        below.stop()


def test_a_server_that_is_away_keeps_what_was_there_and_says_since_when(opens: Opens, server: RunningServer) -> None:
    page = opens("/assets/days")
    settled(page, "days")
    server.stop()
    try:
        expect(page.get_by_text("No answer since")).to_be_visible()
        expect(page.get_by_role("heading", name="days")).to_be_visible()
    finally:
        server.start()
    expect(page.get_by_text("No answer since")).to_have_count(0)
