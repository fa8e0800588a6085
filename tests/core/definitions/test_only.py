"""Products that have only some of their combinations: against a filter of the full product."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.definitions import from_json
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import ProductKey
from tests.strategies import combinations, exists, products

COUNTRIES = PartitionBySequence(["de", "fr", "it"], name="country")
CITIES = PartitionBySequence(["berlin", "bonn", "paris"], name="city")
DAYS = PartitionByInterval("@daily", timezone="Europe/Berlin", start="2013-01-01", name="day")
CUSTOMERS = PartitionBySequence(["ann", "bob", "cid"], name="customer")
OWN_CITIES = {"de": ["berlin", "bonn"], "fr": ["paris"]}


def own_cities(country: str) -> list[str]:
    return OWN_CITIES.get(country, [])


def texts(definition: PartitionByProduct, *bounds: str) -> list[str]:
    return [str(key) for key in definition.keys(*bounds)]


@given(products(), st.data())
def test_what_exists_is_a_filter_of_the_full_product(full: PartitionByProduct, data: st.DataObject) -> None:
    assume(full.time is None or full.time.count() > 0)
    assume(full.count() <= 1_500)
    some = data.draw(combinations(full))
    there = [key for key in full.keys() if exists(full, some, key)]  # noqa: SIM118 - it is no mapping
    if not there:
        with pytest.raises(InvalidDefinitionError, match="no combination"):
            PartitionByProduct([*full.dimensions.values()], only=some)
        return
    definition = PartitionByProduct([*full.dimensions.values()], only=some)
    keys = list(definition.keys())
    assert keys == there
    assert definition.count() == len(there)
    assert (definition.first(), definition.last()) == (there[0], there[-1])
    assert (definition == full) == (len(there) == full.count())
    for key in data.draw(st.lists(st.sampled_from(list(full.keys())), max_size=6)):
        assert definition.contains(key) == (key in there)
        if key in there:
            assert definition.parse(str(key)) == definition.key(key) == key
        else:
            with pytest.raises(InvalidKeyError) as error:
                definition.parse(str(key))
            assert error.value.nearest
            assert all(definition.parse(text) in there for text in error.value.nearest)
    for form in (json.loads(json.dumps(definition.to_json())), None):
        again = from_json(form) if form else pickle.loads(pickle.dumps(definition))
        assert again == definition
        assert hash(again) == hash(definition)
        assert list(again.keys()) == there
    _check_steps(definition, there)


def _check_steps(definition: PartitionByProduct, there: list[ProductKey]) -> None:
    time = None if definition.time is None else definition.time.name
    for key in there[:20]:
        same = [other for other in there if all(other[name] == key[name] for name in key if name != time)]
        line = there if time is None else same
        i = line.index(key)
        assert definition.previous(key) == (line[i - 1] if i else None)
        assert definition.next(key) == (line[i + 1] if i + 1 < len(line) else None)
        interval = definition.interval_of(key)
        beside = [other for other in there if definition.interval_of(other) == interval]
        assert interval is None or list(definition.keys_of(interval)) == beside
        i = beside.index(key)
        assert definition.beside(key, 1) == (beside[i + 1] if i + 1 < len(beside) else None)
        assert definition.beside(key, -1) == (beside[i - 1] if i else None)
    segments = {tuple(part for name, part in key.wrapped.items() if name != time) for key in there}
    assert definition.combinations() == len(segments)
    assert [key.parts for key in definition.segment_keys()] == [
        key.parts
        for key in PartitionByProduct([*definition.dimensions.values()]).segment_keys()
        if key.parts in segments
    ]


@given(products(), st.data())
def test_within_bounds_of_time(full: PartitionByProduct, data: st.DataObject) -> None:
    assume(full.time is not None and full.time.count() > 0 and full.count() <= 1_500)
    some = data.draw(combinations(full))
    assume(any(exists(full, some, key) for key in full.keys()))  # noqa: SIM118
    definition = PartitionByProduct([*full.dimensions.values()], only=some)
    intervals = list(full.time.keys())  # type: ignore[union-attr]
    start, end = sorted(data.draw(st.sampled_from(intervals)).start.astimezone() for _ in range(2))
    there = [key for key in full.keys(start, end) if exists(full, some, key)]
    assert list(definition.keys(start, end)) == there
    assert definition.count(start, end) == len(there)
    over = [key for key in full.keys() if exists(full, some, key) and full.interval_of(key).end <= end]  # type: ignore[union-attr]  # noqa: SIM118
    assert definition.last(end) == (over[-1] if over else None)


@pytest.mark.parametrize(
    "only",
    [
        OWN_CITIES,
        own_cities,
        lambda country: (city for city in OWN_CITIES.get(country, ())),
        [("de", "berlin"), ("de", "bonn"), ("fr", "paris")],
        ["de|berlin", "de|bonn", "fr|paris"],
        [{"country": "fr", "city": "paris"}, ["de", "bonn"], "de|berlin"],
        {"de": ("berlin", "bonn"), "fr": "paris"},
    ],
)
def test_the_ways_to_say_it_mean_the_same(only: Any) -> None:
    definition = PartitionByProduct([COUNTRIES, CITIES], only=only)
    assert texts(definition) == ["de|berlin", "de|bonn", "fr|paris"]
    assert definition == PartitionByProduct([COUNTRIES, CITIES], only=OWN_CITIES)
    assert definition != PartitionByProduct([COUNTRIES, CITIES])
    assert definition != PartitionByProduct([COUNTRIES, CITIES], only={"de": ["berlin"]})
    assert repr(definition).endswith("only=3 combinations)")


def test_customers_that_exist_since_a_date() -> None:
    since = {"ann": "2013-01-01..", "bob": "2013-01-03..2013-01-05", "cid": ["2013-01-02", "2013-01-04.."]}
    definition = PartitionByProduct([CUSTOMERS, DAYS], only=since)
    assert texts(definition, "2013-01-01", "2013-01-06") == [
        "ann|2013-01-01",
        "ann|2013-01-02",
        "cid|2013-01-02",
        "ann|2013-01-03",
        "bob|2013-01-03",
        "ann|2013-01-04",
        "bob|2013-01-04",
        "cid|2013-01-04",
        "ann|2013-01-05",
        "cid|2013-01-05",
    ]
    assert definition.to_json()["only"] == [
        {"segments": [[[0]]], "times": [[None, None]]},
        {"segments": [[[2]]], "times": [["2013-01-02", "2013-01-03"], ["2013-01-04", None]]},
        {"segments": [[[1]]], "times": [["2013-01-03", "2013-01-05"]]},
    ]
    by_days = {"2013-01-01..": ["ann"], "2013-01-03..2013-01-05": ["bob"], "2013-01-02": ["cid"], "2013-01-04..": "cid"}
    assert texts(PartitionByProduct([DAYS, CUSTOMERS], only=by_days), "2013-01-02", "2013-01-03") == [
        "2013-01-02|ann",
        "2013-01-02|cid",
    ]


def test_a_function_is_asked_once_about_each_key_of_the_first_dimension() -> None:
    asked: list[Any] = []
    days = PartitionByInterval("@daily", timezone="UTC", start="2013-01-01", end="2013-01-04", name="day")

    def customers(day: Any) -> list[str]:
        asked.append(day)
        return ["ann", "bob"] if day.start.day > 2 else ["ann"]

    definition = PartitionByProduct([days, CUSTOMERS], only=customers)
    assert asked == list(days.keys())
    assert texts(from_json(definition.to_json())) == [  # type: ignore[arg-type]
        "2013-01-01|ann",
        "2013-01-02|ann",
        "2013-01-03|ann",
        "2013-01-03|bob",
    ]
    assert len(asked) == 3


def test_three_dimensions() -> None:
    tenants, regions = PartitionBySequence(["acme", "beta"], name="tenant"), PartitionBySequence(["eu", "us"], name="r")
    definition = PartitionByProduct(
        [tenants, DAYS, regions], only={"acme": [("..", "eu")], "beta": ["2013-01-02..|us"]}
    )
    assert texts(definition, "2013-01-01", "2013-01-03") == [
        "acme|2013-01-01|eu",
        "acme|2013-01-02|eu",
        "beta|2013-01-02|us",
    ]
    assert definition.first() == definition.parse("acme|2013-01-01|eu")


def test_an_only_with_everything_is_none() -> None:
    assert PartitionByProduct([COUNTRIES, CITIES], only=lambda _: CITIES.values).only is None
    assert PartitionByProduct([DAYS, CUSTOMERS], only={"..": CUSTOMERS.values}) == PartitionByProduct([DAYS, CUSTOMERS])
    assert "only" not in PartitionByProduct([COUNTRIES, CITIES]).to_json()


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ({"de": ["berlni"]}, "'de' with 'berlni'.*nearest: berlin"),
        ({"be": ["berlin"]}, "'be' is not one of the 3 values of 'country'; nearest: de"),
        ({"de": 3}, "expected a list of what exists with it, of city"),
        ([("de", "berlin", "x")], "expected one value for each of country, city, such as 'country|city'"),
        (["de|berlin|x"], "expected one value for each of country, city"),
        ("de|berlin", "only='de|berlin' says nothing of combinations; expected {'de'"),
        (7, "only=7 says nothing"),
        ({}, "only= has no combination of country, city at all"),
        (lambda _: [], "only= has no combination"),
    ],
)
def test_what_is_wrong_is_told(only: Any, words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words.replace("|", r"\|").replace("{", r"\{")):
        PartitionByProduct([COUNTRIES, CITIES], only=only)


@pytest.mark.parametrize(
    ("only", "words"),
    [
        (lambda _: ["ann"], "has no end of them; give it start= and end=, or say from when to when"),
        ({"2013-01-05..2013-01-01": ["ann"]}, "ends before it begins; expected start..end"),
        ({"2013-13-01": ["ann"]}, "or a range such as '2013-03-01..2013-06-01'"),
        ({"soon..": ["ann"]}, "start='soon' is not a time"),
        ({"..2012-01-01": ["ann"]}, "has no combination of day, customer at all"),
    ],
)
def test_what_is_wrong_about_times_is_told(only: Any, words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=words):
        PartitionByProduct([DAYS, CUSTOMERS], only=only)


def test_the_nearest_that_exist_are_told() -> None:
    cities = PartitionByProduct([COUNTRIES, CITIES], only=OWN_CITIES)
    with pytest.raises(InvalidKeyError) as error:
        cities.parse("de|paris")
    assert str(error.value) == (
        "'de|paris' does not exist: there is no country 'de' with city 'paris'; expected one of the 3 combinations that"
        " the definition has; nearest: de|bonn, fr|paris"
    )
    with pytest.raises(InvalidKeyError, match=r"country 'it' with city 'berlin'.*nearest: de\|berlin"):
        cities.key({"country": "it", "city": "berlin"})
    with pytest.raises(InvalidKeyError, match=r"nearest: fr\|paris"):
        cities.parse("paris|fr")
    since = PartitionByProduct([CUSTOMERS, DAYS], only={"ann": "2013-02-01..", "bob": "..2013-01-10"})
    with pytest.raises(InvalidKeyError, match=r"nearest: ann\|2013-02-01, bob\|2013-01-05$"):
        since.parse("ann|2013-01-05")
    with pytest.raises(InvalidKeyError, match=r"nearest: bob\|2013-01-09, ann\|2013-03-01$"):
        since.parse("bob|2013-03-01")


def test_an_open_calendar_has_no_first_key_unless_what_exists_begins() -> None:
    days = PartitionByInterval("@daily", timezone="UTC", name="day")
    assert PartitionByProduct([days, CUSTOMERS], only={"..2013-01-01": ["ann"]}).first() is None
    since = PartitionByProduct([days, CUSTOMERS], only={"2013-01-02..": ["bob"]})
    assert str(since.first()) == "2013-01-02|bob"
    assert since.last() is None
