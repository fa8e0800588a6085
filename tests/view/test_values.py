"""A value in each cell: its scale, what is outside of it and what tells none, by mouse, by keys and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.view.conftest import Opens, faults_of_access
from tests.view.test_pages import standing_out

SPRING = "/assets/deliveries?start=2023-02-01T00:00:00Z&end=2023-04-01T00:00:00Z"

FEW_DAYS = "/assets/deliveries?start=2023-02-25T00:00:00Z&end=2023-03-15T00:00:00Z"


def legend(page: Page) -> Locator:
    return page.get_by_role("group", name="Legend")


def test_cells_are_coloured_by_a_value_and_the_address_says_so(opens: Opens) -> None:
    page = opens(SPRING)
    page.get_by_role("combobox", name="Colour by").select_option("Rows written")
    expect(page).to_have_url(re.compile("value=rows"))
    expect(legend(page)).to_contain_text("▲ the largest 1 %, up to 1,000,000,000,000")
    expect(legend(page)).to_contain_text("tell none")
    expect(
        page.get_by_role("img", name=re.compile(r"^Rows written over time, .* between 1,0\d\d and 1,2\d\d$"))
    ).to_be_visible()
    page.reload()
    expect(legend(page)).to_contain_text("Rows written")
    page.get_by_role("combobox", name="Colour by").select_option("Colour by state")
    expect(legend(page)).to_have_count(0)
    expect(page).not_to_have_url(re.compile("value="))


@pytest.mark.parametrize("width", [360, 1280])
def test_keys_alone_tell_the_values(opens: Opens, width: int) -> None:
    page = opens(f"{FEW_DAYS}&value=rows", viewport={"width": width, "height": 900}, color_scheme="dark")
    expect(legend(page)).to_contain_text("up to 1,000,000,000,000")
    picture = page.get_by_role("application", name="Partitions of deliveries")
    picture.focus()
    told = picture.locator("[aria-live]")
    for _ in range(30):  # from the newest in view, of which a wide screen has more
        picture.press("ArrowLeft")
        if told.inner_text().startswith("2023-03-01,"):
            break
    expect(told).to_contain_text("2023-03-01, 1 materialized")
    picture.press("ArrowRight")
    expect(told).to_contain_text("Rows written: 1,000,000,000,000 (among the largest 1 %)")
    for _ in range(3):  # a Sunday
        picture.press("ArrowRight")
    expect(told).to_contain_text("Rows written: not told")
    assert faults_of_access(page) == []
    assert standing_out(page) <= 0


@pytest.mark.parametrize("width", [360, 1280])
def test_the_numbers_beside_the_line_over_time_are_not_on_it(opens: Opens, width: int) -> None:
    page = opens(f"{FEW_DAYS}&value=rows", viewport={"width": width, "height": 900})
    line = page.get_by_role("img", name=re.compile("over time"))
    drawn = line.locator("canvas").bounding_box()
    labels = [label.bounding_box() for label in line.locator("p").all()]
    assert drawn is not None
    assert len(labels) == 2
    for label in labels:
        assert label is not None
        assert label["y"] + label["height"] <= drawn["y"] or label["y"] >= drawn["y"] + drawn["height"]


def test_an_unknown_value_in_the_address_shows_the_states(opens: Opens) -> None:
    page = opens(f"{SPRING}&value=colour")
    expect(page.get_by_role("combobox", name="Colour by")).to_have_value("")
    expect(page.get_by_role("application", name="Partitions of deliveries")).to_be_visible()
