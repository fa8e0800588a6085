"""Keys that become known while a task runs."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from airflow_partitions import Partition, PartitionAtRuntime
from airflow_partitions.core.definitions import from_json
from airflow_partitions.core.definitions.runtime import Addition
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, MissingPartitionError

CUSTOMERS = PartitionAtRuntime("customers")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("acme", "acme"), ("1", "1"), (1, "int:1"), (1.0, "float:1.0"), ("int:1", "str:int:1"), ("str:a", "str:str:a"),
        ("http://x", "http://x"), (date(2013, 1, 1), "date:2013-01-01"), (("a", 1), 'tuple:["a",["int",1]]'),
        (datetime(2013, 1, 1, tzinfo=UTC), "datetime:2013-01-01T00:00:00+00:00"),
    ],
)  # fmt: skip
def test_a7_the_text_keeps_the_type(value: Any, text: str) -> None:
    key = CUSTOMERS.key(value)
    assert str(key) == text
    assert CUSTOMERS.parse(text) == key
    assert CUSTOMERS.parse(text).value == value


def test_a7_one_is_not_the_text_1() -> None:
    assert CUSTOMERS.key(1) != CUSTOMERS.key("1")
    assert CUSTOMERS.parse("1").value == "1"


@pytest.mark.parametrize(
    "text", ["int:x", "float:nan", "date:soon", "datetime:2013-01-01", "tuple:x", "tuple:5", "key:[]", "int:"]
)
def test_a16_malformed_texts(text: str) -> None:
    with pytest.raises(InvalidKeyError) as error:
        CUSTOMERS.parse(text)
    assert text.partition(":")[2] in str(error.value)


def test_a16_what_is_no_key() -> None:
    with pytest.raises(InvalidKeyError, match=r"5 is not text; expected one such as 'int:1' for the key 1"):
        CUSTOMERS.parse(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidKeyError, match="has 251 characters; expected at most 250"):
        CUSTOMERS.key("x" * 251)
    assert not CUSTOMERS.contains(None)


def test_a7_the_definition_knows_no_keys() -> None:
    for ask in (CUSTOMERS.keys, CUSTOMERS.count, lambda: list(CUSTOMERS)):
        with pytest.raises(
            InvalidDefinitionError, match=r"PartitionAtRuntime\(name='customers'\) are known only from what tasks"
        ):
            ask()
    assert CUSTOMERS.next("a") is CUSTOMERS.previous("a") is None
    assert PartitionAtRuntime(name="customers") == CUSTOMERS
    with pytest.raises(InvalidDefinitionError, match="dimension name 'my customers' is not usable"):
        PartitionAtRuntime("my customers")


def test_a7_outside_a_task_nothing_is_added_listed_or_removed() -> None:
    for ask in (lambda: CUSTOMERS.add_partition("a"), CUSTOMERS.partitions, lambda: CUSTOMERS.remove_partition("a")):
        with pytest.raises(MissingPartitionError, match=r"inside a task of an asset that has them; none is running"):
            ask()
    CUSTOMERS.add_partitions([])


@pytest.mark.parametrize("metadata", [{1, 2}, object(), float("nan"), {"at": date(2013, 1, 1)}])
def test_a7_metadata_is_json(metadata: Any) -> None:
    with pytest.raises(InvalidKeyError, match="is no JSON"):
        CUSTOMERS.add_partition("a", metadata)


def test_a20_a_partition_knows_the_one_added_before_it() -> None:
    added = {"int:7": Addition(None, 1), "a": Addition("int:7", {"rows": 2})}
    newest = Partition(CUSTOMERS, "a", lambda: added)
    assert newest.metadata == {"rows": 2}
    assert newest.previous == Partition(CUSTOMERS, 7)
    assert newest.previous.metadata == 1
    assert newest.previous.previous is None
    elsewhere = Partition(CUSTOMERS, "posted over REST", lambda: added)
    assert elsewhere.previous is elsewhere.metadata is None
    assert Partition(CUSTOMERS, "a").metadata is None


def test_a20_keys_that_were_added_again_are_passed_once() -> None:
    added = {"b": Addition("a", None), "a": Addition("b", None)}
    assert [p.text for p in Partition(CUSTOMERS, "a", lambda: added).iter_past_partitions()] == ["b"]
    removed = {"c": Addition("gone", None)}
    assert [p.text for p in Partition(CUSTOMERS, "c", lambda: removed).iter_past_partitions()] == ["gone"]


def test_ea7_keys_that_do_not_match_what_is_allowed_are_refused() -> None:
    customers = PartitionAtRuntime("customers", allowed=r"[a-z]+|int:\d+")
    assert customers.parse("ann") == customers.key("ann")
    assert customers.key(7).text == "int:7"
    for ask in (lambda: customers.key("$(rm)"), lambda: customers.parse("ann; rm"), lambda: customers.key("ann1")):
        with pytest.raises(InvalidKeyError, match=r"is not allowed; the keys of 'customers' match \[a-z\]\+"):
            ask()
    assert not customers.contains("$(rm)")


def test_ea7_what_is_allowed_is_part_of_the_definition() -> None:
    customers = PartitionAtRuntime("customers", allowed="[a-z]+")
    assert from_json(customers.to_json()) == customers
    assert customers != CUSTOMERS
    assert repr(customers) == "PartitionAtRuntime(name='customers', allowed='[a-z]+')"
    for allowed in ("[", 5):
        with pytest.raises(InvalidDefinitionError, match=r"is no regular expression: .*; expected for example r'\[a-z"):
            PartitionAtRuntime("customers", allowed=allowed)  # type: ignore[arg-type]
