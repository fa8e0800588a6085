"""Laws of all contracts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from airflow_partitions.core.errors import InvalidRequestError
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.operate.contract.operations import OPERATIONS
from airflow_partitions.operate.contract.requests import MaterializePartitions, ShowRequest
from airflow_partitions.operate.contract.states import ListStates

BOUNDS = {"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems"}
#: What is counted in an answer is there at least once.
COUNTED = {"Stretch"}
each = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.called())


def schemas(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield document["title"], document.get("properties", {})
    yield from ((name, form.get("properties", {})) for name, form in document.get("$defs", {}).items())


def test_all_operations_are_listed() -> None:
    assert set(OPERATIONS) == set(Operation.__subclasses__())
    assert len({operation.route for operation in OPERATIONS}) == len(OPERATIONS)


@each
def test_something_comes_of_each(operation: type[Operation]) -> None:
    noun = operation.__module__.rpartition(".")[2]
    function = getattr(import_module(f"airflow_partitions.operate.operations.{noun}"), operation.called())
    asked, asker = signature(function).parameters.values()
    assert (asked.annotation, asker.annotation) == (operation.__name__, "Asker")


@each
def test_each_field_says_what_it_is(operation: type[Operation]) -> None:
    assert operation.__doc__
    assert set(operation.path_fields()) <= set(operation.model_fields)
    assert [name for name, field in operation.model_fields.items() if not field.description] == []


@each
def test_answers_have_no_bounds(operation: type[Operation]) -> None:
    bounded = {
        f"{title}.{name}"
        for title, properties in schemas(operation.answer.model_json_schema(mode="serialization"))
        for name, form in properties.items()
        if title not in COUNTED and BOUNDS & form.keys()
    }
    assert bounded == set()


@pytest.mark.parametrize(
    ("operation", "values", "words"),
    [
        (MaterializePartitions, {"concurrency": 0}, "concurrency=0; expected a number from 1 to 100,000"),
        (MaterializePartitions, {"conf": [1]}, r"conf=\[1\]; expected an object of JSON"),
        (MaterializePartitions, {"concurency": 3}, "there is no 'concurency'; nearest: concurrency"),
        (ListStates, {"states": ["missing", "lost"]}, r"states\[1\]='lost'; expected 'running', 'queued'"),
        (ListStates, {"limit": "many"}, "limit='many'; expected a number from 1 to 10,000"),
        (ListStates, {"select": "a\x00b"}, "select='a.x00b'; expected"),
        (ListStates, {"asset": None}, "asset is missing"),
    ],
)
def test_a_mistake_is_said_in_words(operation: type[Operation], values: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequestError, match=words):
        operation.of(**{"asset": "days", **values})


def test_none_stands_for_what_is_not_given() -> None:
    assert ListStates.of(asset="days", select=None, limit=None) == ListStates(asset="days")
    with pytest.raises(InvalidRequestError, match="request=0; expected a number from 1 to"):
        ShowRequest.of(request=0)


UNSTORABLE = st.sampled_from(["\ud800", "a\x00", "x\udfff", math.nan, math.inf, -math.inf])
NESTED = st.recursive(
    UNSTORABLE,
    lambda inner: st.lists(inner, min_size=1, max_size=2) | st.dictionaries(st.just("a"), inner, min_size=1),
)


@each
@given(value=NESTED)
@settings(max_examples=15, deadline=None)
def test_eo1_no_field_takes_what_can_not_be_stored(operation: type[Operation], value: Any) -> None:
    for name in operation.model_fields:
        for given_value in (value, {"a": value}, [value]):
            with pytest.raises(ValidationError) as refused:
                operation(**{name: given_value})
            assert any(mistake["loc"][0] == name and mistake["type"] != "missing" for mistake in refused.value.errors())


@pytest.mark.parametrize("conf", [{"a": "\ud800"}, {"a": "\0"}, {"\0": 1}, {"a": [{"b": math.inf}]}, {"a": math.nan}])
def test_eo1_conf_is_refused_in_words(conf: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError, match=r"conf=.*; expected (a number that JSON has|text that can be)"):
        MaterializePartitions.of(asset="days", select="all", conf=conf)
