"""The keys added to an asset, and the order in which they were."""

from __future__ import annotations

import json

import pytest

from airflow_partitions.definitions.runtime import Addition
from airflow_partitions.errors import UnknownVersionError
from airflow_partitions.runs.key_list import RuntimeKeys


def counted(keys: RuntimeKeys) -> RuntimeKeys:
    """As if the run that wrote it had succeeded."""
    return RuntimeKeys(keys.all)


def test_a20_each_key_knows_the_one_before_it_and_a_known_one_becomes_the_newest() -> None:
    first = RuntimeKeys().with_pending({"a": 1, "b": None}, "run1")
    assert first.all == {"a": Addition(None, 1), "b": Addition("a", None)}
    second = counted(first).with_pending({"c": None, "a": 2}, "run2")
    assert list(second.all.items()) == [("b", ("a", None)), ("c", ("b", None)), ("a", ("c", 2))]
    newest_again = counted(second).with_pending({"a": 3}, "run3")
    assert newest_again.all["a"] == Addition("c", 3)


def test_a7_what_is_pending_can_be_dropped_without_harm() -> None:
    there = counted(RuntimeKeys().with_pending({"a": 1, "b": 2}, "run1"))
    assert there.with_pending({"a": 9, "x": 9}, "killed").added == there.added


def test_a7_keys_are_taken_off() -> None:
    there = counted(RuntimeKeys().with_pending({"a": None, "b": None, "c": None}, "run1")).without({"b"})
    assert there.all == {"a": Addition(None, None), "c": Addition("b", None)}


def test_keys_survive_json() -> None:
    keys = counted(RuntimeKeys().with_pending({"a": {"rows": [1, 2.5]}, "int:7": "x"}, "run1")).with_pending(
        {"b": None}, "run2"
    )
    read = RuntimeKeys.from_json(json.loads(json.dumps(keys.to_json())))
    assert read == keys
    assert list(read.all) == ["a", "int:7", "b"]
    assert RuntimeKeys.from_json(RuntimeKeys().to_json()) == RuntimeKeys()


def test_keys_of_another_release_are_refused() -> None:
    with pytest.raises(UnknownVersionError, match="list of runtime keys has version 2; expected 1"):
        RuntimeKeys.from_json(RuntimeKeys().to_json() | {"version": 2})
