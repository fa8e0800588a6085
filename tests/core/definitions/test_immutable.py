"""Definitions do not change."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.definitions import PartitionDefinition

DAYS, SIDES = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01"), ["left", "right"]
DEFINITIONS: list[PartitionDefinition] = [
    DAYS,
    PartitionBySequence(SIDES),
    PartitionByProduct([DAYS, PartitionBySequence(SIDES)]),
    PartitionAtRuntime("users"),
]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.kind)
def test_ek8_nothing_of_a_definition_can_be_set(definition: Any) -> None:
    before = definition.to_json()
    for name in ("name", "timezone", "segments", "calendar", "_index", "extra"):
        with pytest.raises(AttributeError):
            setattr(definition, name, "Europe/Berlin")
    with pytest.raises(AttributeError, match="is immutable; 'name' can't be removed"):
        del definition.name
    assert definition.to_json() == before
    for same in (copy.copy(definition), copy.deepcopy(definition), pickle.loads(pickle.dumps(definition))):
        assert same == definition
        assert hash(same) == hash(definition)


def test_ek8_the_dimensions_of_a_product_can_not_be_changed() -> None:
    product: Any = DEFINITIONS[2]
    with pytest.raises(AttributeError):
        product.dimensions.clear()
    with pytest.raises(TypeError):
        product.dimensions["time"] = DAYS


def test_ek8_the_list_it_was_made_of_may_change() -> None:
    values = ["left", "right"]
    definition = PartitionBySequence(values)
    values.append("above")
    assert definition.values == ("left", "right")


def test_ek6_the_form_of_a_definition_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    forms: list[PartitionDefinition] = []
    original = PartitionBySequence.to_json

    def to_json(self: PartitionBySequence) -> dict[str, Any]:
        forms.append(self)
        return original(self)

    monkeypatch.setattr(PartitionBySequence, "to_json", to_json)
    one, other = (PartitionBySequence(list(range(100))) for _ in range(2))
    for _ in range(10):
        assert one == other
        assert hash(one) == hash(other)
    assert len(forms) == 2


def test_ek6_the_nearest_values_are_looked_for_when_the_message_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    import difflib

    from airflow_partitions.core.errors import InvalidKeyError

    searched: list[str] = []
    search = difflib.get_close_matches
    monkeypatch.setattr(
        difflib, "get_close_matches", lambda text, *a, **k: searched.append(text) or search(text, *a, **k)
    )
    definition = PartitionBySequence([f"value-{n}" for n in range(10_000)])
    assert not definition.contains("valeu-17")
    with pytest.raises(InvalidKeyError) as refused:
        definition.parse("valeu-17")
    assert not searched
    assert "nearest: value-17" in str(refused.value)
    assert refused.value.nearest[0] == "value-17"
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    assert searched == ["valeu-17"]
