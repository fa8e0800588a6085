"""Selections as people type them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_partitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    PartitionKey,
    Selection,
)
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import parse_selection, selection_text
from airflow_partitions.core.errors import InvalidKeyError, PartitionError, SelectionError
from airflow_partitions.core.keys import Key
from tests.core.dependencies.test_selection_laws import some, universes
from tests.strategies import texts

ZONE = "America/New_York"
HOURS = PartitionByInterval("@hourly", timezone=ZONE, start="2013-01-01")
DAYS = PartitionByInterval("@daily", timezone=ZONE, start="2013-01-01", end="2014-01-01", name="day")
WEEKS = PartitionByInterval("@weekly", start="2013-01-01")
AIRPORTS = PartitionBySequence(["EWR", "JFK", "LGA"], name="origin")
FLIGHTS = PartitionByProduct([DAYS, AIRPORTS])
NOON = datetime(2013, 3, 8, 17, tzinfo=UTC)


class Seat(PartitionKey):
    row: int
    letter: str


@given(universes(), st.data())
def test_text_is_read_back(universe: tuple[PartitionDefinition, list[Key]], data: st.DataObject) -> None:
    definition, _ = universe
    selection = data.draw(some(*universe))
    assume(len(selection))
    text = selection_text(selection)
    assert parse_selection(definition, text) == selection
    assert selection_text(Selection.of(definition, *selection)) == text  # the same for the same keys


@given(universes(), st.data())
def test_the_text_of_a_key_is_that_key(universe: tuple[PartitionDefinition, list[Key]], data: st.DataObject) -> None:
    definition, keys = universe
    key = data.draw(st.sampled_from(keys))
    assert list(parse_selection(definition, str(key))) == [key]


@given(st.lists(st.integers(-3, 3) | texts, min_size=1, unique=True))
def test_text_of_runtime_keys_is_read_back(values: list[int | str]) -> None:
    definition = PartitionAtRuntime("users")
    selection = Selection.of(definition, *map(definition.key, values))
    assert parse_selection(definition, selection_text(selection)) == selection


@given(st.text('2013-JFKal,;&=". in..|\\', max_size=30))
def test_any_other_text_is_refused_as_one(text: str) -> None:
    with suppress(PartitionError):  # and by no other error
        assert len(parse_selection(FLIGHTS, text))


@pytest.mark.parametrize(
    ("definition", "text", "count", "canonical"),
    [
        (HOURS, "2013-03-10", 23, "2013-03-10"),
        (HOURS, "2013-11-03", 25, "2013-11-03"),
        (HOURS, "2013-02", 28 * 24, "2013-02"),
        (HOURS, "2013-02-01T05:00-05:00", 1, "2013-02-01T05:00-05:00"),
        (HOURS, "2013-02-01T10:00Z", 1, "2013-02-01T05:00-05:00"),
        (HOURS, "2013-02-01..2013-02-01T05:00-05:00", 5, "2013-02-01..2013-02-01T05:00-05:00"),
        (HOURS, "2013", 8760, "2013"),
        (DAYS, "2013-03-01..2013-03-10", 9, "2013-03-01..2013-03-10"),
        (DAYS, "2013-01..2013-03", 59, "2013-01-01..2013-03-01"),
        (DAYS, "..2013-01-03", 2, "2013-01-01..2013-01-03"),
        (DAYS, "2013-03-05..", 3, "2013-03-05..2013-03-08"),
        (DAYS, "2013-12-30 .. 2015", 2, "2013-12-30..2014-01-01"),
        (DAYS, "2013-03-02, 2013-03-01,2013-05", 33, "2013-03-01..2013-03-03, 2013-05"),
        (DAYS, "2013-03-02; 2013-03-01", 2, "2013-03-01..2013-03-03"),
        (DAYS, "day = 2013-03-01", 1, "2013-03-01"),
        (DAYS, "latest", 1, "2013-03-07"),
        (DAYS, "all", 66, "2013-01-01..2013-03-08"),
        (DAYS, "2013-02..2013-04 & 2013-03..2013-05", 31, "2013-03"),
        (WEEKS, "2013-03", 5, "2013-03-03..2013-04-07"),
        (AIRPORTS, "LGA, EWR", 2, "EWR,LGA"),
        (AIRPORTS, "origin in LGA", 1, "LGA"),
        (AIRPORTS, "all", 3, "all"),
        (FLIGHTS, "2013-03-01..2013-03-10 & origin in JFK,LGA", 18, "2013-03-01..2013-03-10 & origin in JFK,LGA"),
        (FLIGHTS, "origin = JFK", 66, "2013-01-01..2013-03-08 & origin in JFK"),
        (FLIGHTS, "2013-03-01|JFK, 2013-03-02|JFK", 2, "2013-03-01..2013-03-03 & origin in JFK"),
        (FLIGHTS, "latest|JFK; latest", 4, None),
        (FLIGHTS, "2013-03-01|JFK; 2013-03-03", 4, "2013-03-01|JFK; 2013-03-03"),
        (FLIGHTS, "day in 2013-03,2013-05 & origin = EWR", 62, "2013-03, 2013-05 & origin in EWR"),
        (FLIGHTS, "origin in EWR,JFK,LGA & 2013-03-01", 3, "2013-03-01"),
    ],
)  # fmt: skip
def test_what_people_write(definition: PartitionDefinition, text: str, count: int, canonical: str | None) -> None:
    if canonical is None:
        with pytest.raises(InvalidKeyError):
            parse_selection(definition, text, closed_by=NOON)
        return
    selection = parse_selection(definition, text, closed_by=NOON)
    assert len(selection) == count
    assert selection_text(selection) == canonical


def test_open_calendars_have_open_ranges() -> None:
    open_days = PartitionByInterval("@daily")
    assert selection_text(parse_selection(open_days, "all")) == "all"
    assert selection_text(parse_selection(open_days, "2013-05-01..")) == "2013-05-01.."
    assert selection_text(parse_selection(open_days, "..2013-05-01")) == "..2013-05-01"
    product = PartitionByProduct([open_days, AIRPORTS])
    assert selection_text(parse_selection(product, "origin = JFK")) == "origin in JFK"
    assert selection_text(parse_selection(HOURS, "all")) == "2013-01-01.."
    assert selection_text(parse_selection(DAYS, "all")) == "2013"
    assert selection_text(parse_selection(open_days, "2013-03-05..", closed_by=NOON)) == "2013-03-05..2013-03-08"
    assert list(islice(parse_selection(HOURS, "all"), 2)) == list(HOURS.keys(end="2013-01-01T02:00-05:00"))


def test_values_that_look_like_words_of_the_text_are_quoted() -> None:
    words = PartitionBySequence(["all", "latest", 'say "hi"', "a,b", "a..b", "x = y", "plain"])
    selection = Selection.of(words, "all", 'say "hi"', "a,b", "a..b", "x = y")
    text = selection_text(selection)
    assert text == r'"all","say \"hi\"","a,b","a..b","x = y"'
    assert parse_selection(words, text) == selection
    assert list(parse_selection(words, "all")) == [words.parse("all")]  # a key's own text is that key
    seats = PartitionBySequence([Seat(row=1, letter="a"), Seat(row=2, letter="b")])
    assert len(parse_selection(seats, "row=1,letter=a")) == 1
    assert len(parse_selection(seats, '"row=1,letter=a", "row=2,letter=b"')) == 2


@pytest.mark.parametrize(
    ("definition", "text", "words"),
    [
        (DAYS, "", "selects nothing; expected for example"),
        (DAYS, "2012", "'2012' selects no partition of PartitionByInterval"),
        (DAYS, "2013-03-01..2013-03-01", "selects no partition"),
        (DAYS, "2013-03-02..2013-03-01", "ends before it begins"),
        (DAYS, "2013-02-30", "'2013-02-30' is not a partition"),
        (DAYS, "2013-13", "'2013-13' is not a partition"),
        (DAYS, "2014-01-01", "2013-12-31"),
        (WEEKS, "2013-03-06", "nearest: 2013-03-03, 2013-03-10"),
        (HOURS, "2013-03-01T05:00", "2013-03-01T05:00-05:00"),
        (HOURS, "2013-03-01T05:00..2013-03-02", "no UTC offset; expected for example '2013-03-01T05:00:00-05:00'"),
        (DAYS, "yesterday", "'yesterday' is not a partition"),
        (DAYS, "2013-03-01,,2013-03-02", "a value is missing"),
        (DAYS, "2013-03-01 &", "a value is missing"),
        (FLIGHTS, "orgin in JFK", "no dimension 'orgin'; nearest: origin"),
        (FLIGHTS, "origin in JFK,LGW", "nearest: LGA"),
        (FLIGHTS, "origin in EWR..LGA", "no ranges"),
        (FLIGHTS, "2013-03-01|LGW", "nearest: 2013-03-01|LGA"),
        (AIRPORTS, "latest", "has no time"),
        (AIRPORTS, '"JFK', "the quote is not closed"),
        (AIRPORTS, '"JFK" x', "quotes around the whole value"),
        (AIRPORTS, r'"\q"', "as in JSON"),
        (PartitionAtRuntime("users"), "all", "name those that are meant"),
    ],
)
def test_errors_name_the_way_out(definition: PartitionDefinition, text: str, words: str) -> None:
    with pytest.raises((SelectionError, InvalidKeyError)) as error:
        parse_selection(definition, text, closed_by=NOON)
    assert words in str(error.value)


def test_latest_needs_a_time() -> None:
    with pytest.raises(SelectionError, match="name the key"):
        parse_selection(DAYS, "latest")
    with pytest.raises(SelectionError, match="no interval of"):
        parse_selection(DAYS, "latest", closed_by=datetime(2012, 1, 1, tzinfo=UTC))
