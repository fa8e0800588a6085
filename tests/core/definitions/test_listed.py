"""Products whose combinations are added at runtime: against a filter of the full product by what is on the list."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from airflow_partitions import (
    Dependency,
    KeyFormat,
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Selection,
)
from airflow_partitions.core.definitions import PartitionDefinition, from_json
from airflow_partitions.core.definitions.definition_words import definition_words
from airflow_partitions.core.definitions.runtime import LISTED
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import ProductKey
from tests.strategies import products

TENANTS = PartitionBySequence(["acme", "beta", "cole"], name="tenant")
REGIONS = PartitionBySequence(["eu", "us"], name="region")
DAYS = PartitionByInterval("@daily", timezone="UTC", start="2013-01-01", end="2013-01-05", name="day")
PAIRS = PartitionAtRuntime("tenant_regions", of=PartitionByProduct([TENANTS, REGIONS]))
ACCOUNTS = PartitionByProduct([TENANTS, DAYS, REGIONS], only=PAIRS)


@pytest.fixture(autouse=True)
def _outside_of_tasks() -> Iterator[None]:
    token = LISTED.set(lambda definition: definition)
    yield
    LISTED.reset(token)


def open_product(full: PartitionByProduct) -> PartitionByProduct:
    """The dimensions of a *full* product, with combinations that are added at runtime."""
    of = full.segments[0] if len(full.segments) == 1 else PartitionByProduct(full.segments)
    return PartitionByProduct([*full.dimensions.values()], only=PartitionAtRuntime("some", of=of))


def written(full: PartitionByProduct, key: ProductKey) -> str:
    """What of a *key* is on a list: its text without time."""
    parts = [(name, part) for name, part in key.wrapped.items() if full.time is None or name != full.time.name]
    names, own = zip(*parts, strict=True)
    return str(own[0]) if len(own) == 1 else str(ProductKey(names, own))


@contextmanager
def running(*texts: str) -> Iterator[None]:
    """A task that knows what is on the list."""
    token = LISTED.set(lambda definition: definition.having(texts))
    yield
    LISTED.reset(token)


@given(products(), st.data())
def test_what_exists_is_a_filter_of_the_full_product(full: PartitionByProduct, data: st.DataObject) -> None:
    assume(full.count() <= 1_500 if full.time is None else 0 < full.count() <= 1_500)
    declared = open_product(full)
    every = sorted({written(full, key) for key in full.keys()})  # noqa: SIM118 - it is no mapping
    texts = data.draw(st.lists(st.sampled_from(every), unique=True))
    there = [key for key in full.keys() if written(full, key) in texts]  # noqa: SIM118
    definition = declared.having([*texts, "no|such|combination", "none"])
    assert list(definition.keys()) == there
    assert definition.count() == len(there)
    assert (definition.first(), definition.last()) == ((there[0], there[-1]) if there else (None, None))
    assert definition.combinations() == len(texts)
    assert {written(full, key) for key in definition.segment_keys()} == set(texts)
    assert list(Selection.all(definition)) == there
    for key in data.draw(st.lists(st.sampled_from(list(full.keys())), max_size=6)):
        assert declared.parse(str(key)) == key
        assert definition.contains(key) == (key in there)
        if key not in there:
            with pytest.raises(InvalidKeyError) as error:
                definition.parse(str(key))
            assert all(definition.parse(text) in there for text in error.value.nearest)
            assert bool(error.value.nearest) == bool(there)
    for form in (json.loads(json.dumps(definition.to_json())), None):
        again = from_json(form) if form else pickle.loads(pickle.dumps(definition))
        assert (again, hash(again)) == (definition, hash(definition))
        assert list(again.keys()) == there
        assert again.declared == declared
    assert from_json(json.loads(json.dumps(declared.to_json()))) == declared != full
    assert definition.having(texts[:1]) == declared.having(texts[:1])
    assert (declared.having(texts[1:]) == definition) == (not texts)


@given(products(), st.data())
def test_it_is_what_an_author_may_say(full: PartitionByProduct, data: st.DataObject) -> None:
    assume(full.count() <= 1_500 if full.time is None else 0 < full.count() <= 1_500)
    declared = open_product(full)
    combinations = data.draw(st.lists(st.sampled_from(list(full.segment_keys())), min_size=1, unique=True))
    time = {} if full.time is None else {full.time.name: ".."}
    said = PartitionByProduct([*full.dimensions.values()], only=[{**key, **time} for key in combinations])
    added = declared.having(map(written_alone, combinations))
    assert list(added.keys()) == list(said.keys())
    keys = data.draw(st.lists(st.sampled_from(list(said.keys()))))
    one, other = Selection.of(added, *keys), Selection.of(said, *keys)
    assert list(one) == list(other)
    assert list(Selection.all(added) - one) == list(Selection.all(said) - other)
    assert list(Selection.from_json(json.loads(json.dumps(one.to_json())))) == list(one)
    if full.time is not None:
        down = Dependency(full.time, added), Dependency(full.time, said)
        for interval in full.time.keys():  # noqa: SIM118
            assert list(down[0].upstream(interval)) == list(down[1].upstream(interval))
        assert down[0].fan_out() == down[1].fan_out()


def written_alone(key: ProductKey) -> str:
    return str(key) if len(key) > 1 else str(key.parts[0])


@given(st.lists(st.sampled_from(["acme|eu", "acme|us", "beta|us", "cole|eu"]), unique=True))
def test_a_running_task_knows_what_is_there(texts: list[str]) -> None:
    own = Dependency(DAYS, ACCOUNTS)
    everything = list(PartitionByProduct([TENANTS, DAYS, REGIONS]).keys())
    assert len(own.upstream("2013-01-02")) == 6  # a Dag file takes each combination for one that may exist
    there = {text.replace("|", "|2013-01-02|") for text in texts}
    with running(*texts):
        needed = own.upstream("2013-01-02")
        assert {str(key) for key in needed} == there
        assert len(Selection.all(ACCOUNTS)) == 4 * len(texts)
        kept = Selection.of(ACCOUNTS, *everything)
        assert len(kept - needed) == 3 * len(texts)
    assert needed.definition == ACCOUNTS
    assert {str(key) for key in Selection.from_json(json.loads(json.dumps(needed.to_json())))} == there


def test_a_key_is_one_of_the_combinations() -> None:
    keys = [PAIRS.key(value) for value in ("acme|eu", ("acme", "eu"), {"region": "eu", "tenant": "acme"})]
    keys += [PAIRS.parse("acme|eu"), PAIRS.key(keys[0])]
    assert {(key.value, key.text) for key in keys} == {(("acme", "eu"), "acme|eu")}
    numbers = PartitionAtRuntime("numbers", of=PartitionBySequence([1, 2], name="number"))
    assert (numbers.key(1).value, numbers.parse("1").value, numbers.key(1).text) == (1, 1, "1")
    assert from_json(json.loads(json.dumps(PAIRS.to_json()))) == PAIRS != PartitionAtRuntime("tenant_regions")
    assert "of" not in PartitionAtRuntime("tenant_regions").to_json()
    assert [PAIRS.allows(text) for text in ("acme|eu", "acme|uk", "eu|acme", "acme", "x")] == [True, *[False] * 4]
    europe = PartitionAtRuntime("europe", allowed=r".*\|eu", of=PartitionByProduct([TENANTS, REGIONS]))
    assert [europe.allows(text) for text in ("acme|eu", "acme|us", "zeta|eu")] == [True, False, False]
    with pytest.raises(InvalidKeyError, match=r"key 'acme\|us' is not allowed"):
        europe.key("acme|us")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("acme|uk", r"'uk' is not one of the 2 values of 'region'; nearest: acme\|eu, acme\|us"),
        (("acne", "eu"), r"'acne' is not one of the 3 values of 'tenant'; nearest: acme"),
        ("acme", r"'acme' has 1 parts; expected 2 joined by '\|': tenant\|region; nearest: acme\|eu, acme\|us"),
        ("eu|acme", r"nearest: acme\|eu"),
        (("acme", "eu", 3), r"\('acme', 'eu', 3\) is no key; expected a value for each of \['tenant', 'region'\]"),
        (7, r"7 is no key; expected a value for each of \['tenant', 'region'\]"),
    ],
)
def test_a_wrong_key_is_refused_with_the_nearest(value: Any, words: str) -> None:
    with pytest.raises(InvalidKeyError, match=words):
        PAIRS.key(value)


@pytest.mark.parametrize("of", [DAYS, PartitionAtRuntime("some"), ACCOUNTS, [TENANTS, REGIONS], "tenant", 7])
def test_what_has_no_list_of_keys_is_no_definition_of_keys_that_may_be_added(of: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="expected a definition without time whose keys are known"):
        PartitionAtRuntime("pairs", of=of)


@pytest.mark.parametrize(
    ("dimensions", "only"),
    [
        ([TENANTS, REGIONS], PartitionAtRuntime("pairs")),
        ([TENANTS, DAYS], PAIRS),
        ([PartitionBySequence(["acme"], name="tenant"), REGIONS], PAIRS),
        ([TENANTS, REGIONS], PartitionAtRuntime("pairs", of=TENANTS)),
    ],
)
def test_a_list_of_other_combinations_is_refused(dimensions: list[PartitionDefinition], only: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match=rf"expected PartitionAtRuntime\('{only.name}', of=.*tenant"):
        PartitionByProduct(dimensions, only=only)


def test_what_is_not_known_is_not_listed() -> None:
    for ask in (
        lambda: next(ACCOUNTS.keys()),
        ACCOUNTS.count,
        ACCOUNTS.first,
        ACCOUNTS.last,
        lambda: next(ACCOUNTS.segment_keys()),
        lambda: next(ACCOUNTS.keys_of(DAYS.parse("2013-01-01"))),
    ):
        with pytest.raises(InvalidDefinitionError, match="is known only from what was added to it"):
            ask()
    with pytest.raises(InvalidDefinitionError, match="whose combinations are added at runtime; expected a definition"):
        KeyFormat(ACCOUNTS)
    assert Dependency(ACCOUNTS, DAYS).fan_out() is None
    assert definition_words(ACCOUNTS) == "tenant (3) x day (daily) x region (2), combinations at runtime, UTC"
    assert definition_words(ACCOUNTS.having(["acme|eu"])).endswith("region (2), 1 combinations, UTC")
    assert repr(ACCOUNTS).endswith(f"only={PAIRS!r})")
    assert not PartitionByProduct([TENANTS, REGIONS], only=PAIRS).is_fixed
    assert DAYS.having(["x"]) is DAYS.known is DAYS.declared is DAYS


def test_the_order_of_the_dimensions_is_free() -> None:
    turned = PartitionByProduct([REGIONS, TENANTS], only=PAIRS).having(["acme|us", "beta|eu"])
    assert [str(key) for key in turned.keys()] == ["eu|beta", "us|acme"]  # noqa: SIM118
