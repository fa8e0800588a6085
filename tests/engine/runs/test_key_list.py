"""The keys added to a definition, and the order in which they were."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from airflow_partitions import PartitionAtRuntime
from airflow_partitions.core.definitions.runtime import Addition
from airflow_partitions.core.errors import UnknownVersionError
from airflow_partitions.engine.ledger.added_keys import AddingRun, RuntimeKeys
from airflow_partitions.engine.runs import key_list


def adding(run_id: str) -> AddingRun:
    return AddingRun("customers", "load", run_id, datetime(2026, 1, 1, tzinfo=UTC))


def counted(keys: RuntimeKeys) -> RuntimeKeys:
    """As if the run that wrote it had succeeded."""
    return RuntimeKeys(keys.all)


def test_a20_each_key_knows_the_one_before_it_and_a_known_one_becomes_the_newest() -> None:
    first = RuntimeKeys().with_pending({"a": 1, "b": None}, adding("run1"))
    assert first.all == {"a": Addition(None, 1), "b": Addition("a", None)}
    second = counted(first).with_pending({"c": None, "a": 2}, adding("run2"))
    assert list(second.all.items()) == [("b", ("a", None)), ("c", ("b", None)), ("a", ("c", 2))]
    newest_again = counted(second).with_pending({"a": 3}, adding("run3"))
    assert newest_again.all["a"] == Addition("c", 3)


def test_a7_what_is_pending_can_be_dropped_without_harm() -> None:
    there = counted(RuntimeKeys().with_pending({"a": 1, "b": 2}, adding("run1")))
    assert there.with_pending({"a": 9, "x": 9}, adding("killed")).added == there.added


def test_a7_keys_are_taken_off() -> None:
    there = counted(RuntimeKeys().with_pending({"a": None, "b": None, "c": None}, adding("run1"))).without({"b"})
    assert there.all == {"a": Addition(None, None), "c": Addition("b", None)}


def test_keys_survive_json() -> None:
    keys = counted(RuntimeKeys().with_pending({"a": {"rows": [1, 2.5]}, "int:7": "x"}, adding("run1"))).with_pending(
        {"b": None}, adding("run2")
    )
    copy = RuntimeKeys.from_json(json.loads(json.dumps(keys.to_json())))
    assert copy == keys
    assert list(copy.all) == ["a", "int:7", "b"]
    assert RuntimeKeys.from_json(RuntimeKeys().to_json()) == RuntimeKeys()
    assert RuntimeKeys.from_json(RuntimeKeys(revision=7).to_json()) == RuntimeKeys(revision=7)


@pytest.mark.parametrize("text", ["x" * 251, "a\0b"])
def test_what_is_no_key_is_on_no_list(text: str) -> None:
    with pytest.raises(ValueError, match="expected keys"):
        RuntimeKeys.from_json(RuntimeKeys().to_json() | {"added": [[text, None, None]]})


def test_keys_of_another_release_are_refused() -> None:
    with pytest.raises(UnknownVersionError, match="list of runtime keys has version 2; expected 1"):
        RuntimeKeys.from_json(RuntimeKeys().to_json() | {"version": 2})


def test_ea7_keys_that_are_not_allowed_any_more_were_never_added() -> None:
    keys = counted(RuntimeKeys().with_pending({"ann": 1, "$(rm)": 2, "bob": 3}, adding("run1")))
    assert keys.allowed(PartitionAtRuntime("customers")) == keys
    words = PartitionAtRuntime("customers", allowed="[a-z]+")
    assert keys.allowed(words).all == {"ann": Addition(None, 1), "bob": Addition(None, 3)}


@pytest.mark.parametrize(
    "damage",
    [
        "x", 7, [], {}, {"version": 1}, {"version": 1, "see": "customers"},
        {"version": 1, "added": [["a", None]], "pending": [], "run": None, "revision": None},
        {"version": 1, "added": [[5, None, None]], "pending": [], "run": None, "revision": None},
        {"version": 1, "added": [["a", 5, None]], "pending": [], "run": None, "revision": None},
        {"version": 1, "added": [], "pending": [], "run": {"at": "2026-01-01"}, "revision": None},
        {"version": 1, "added": [], "pending": [], "run": "x", "revision": None},
        {"version": 1, "added": [], "pending": [], "run": None, "revision": -1},
    ],
)  # fmt: skip
def test_ea8_a_cell_in_which_others_wrote_holds_no_keys(
    damage: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    store = SimpleNamespace(get=lambda cell: damage)
    monkeypatch.setattr(key_list, "AssetStateStoreAccessor", lambda name: store)
    assert key_list.read(PartitionAtRuntime("customers")) == RuntimeKeys()
    assert "the list in the state store of asset 'keys of customers' can't be read" in caplog.text
