"""Datasets with awkward keys, and filters over them with what they mean."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from hypothesis import strategies as st

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.keys import Interval, Key, ProductKey
from airflow_partitions.storage import Column, Filter, field

#: A filter, and whether it takes a key.
Question = tuple[Filter, Callable[[Key], bool]]

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class FieldCases(NamedTuple):
    """What can be asked about one field.

    :ivar of: what a key has there.
    :ivar exact: what it can be equal to, as a filter takes it, with what that is.
    :ivar bounds: what it can be compared with beyond that.
    """

    of: Callable[[Key], Any]
    exact: Sequence[tuple[Any, Any]]
    bounds: Sequence[tuple[Any, Any]] = ()


class Lake(NamedTuple):
    """A kind of dataset: its definition, its folders, some keys, and what can be asked about them."""

    definition: PartitionDefinition
    columns: Mapping[str, str | Column] | None
    keys: Sequence[Key]
    fields: Mapping[str, FieldCases]


def part(key: Key, name: str) -> Any:
    """The part *name* of *key*: when it starts, or its value."""
    value = key.wrapped[name] if isinstance(key, ProductKey) else key
    return value.start.astimezone(UTC) if isinstance(value, Interval) else value.value


def _hours(columns: Mapping[str, str | Column] | None, fields: Mapping[str, str] = {}) -> Lake:
    hours = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-03-01", name="hour")
    keys = [
        *hours.keys("2013-11-03T00:00-04:00", "2013-11-03T02:00-05:00"),  # the clock is set back
        *hours.keys("2013-03-10T01:00-05:00", "2013-03-10T04:00-04:00"),  # and forward
    ]
    halves = [key.start + timedelta(minutes=half) for key in keys for half in (0, 30)]
    hour_cases = FieldCases(
        lambda key: part(key, "hour"),
        [(str(key), part(key, "hour")) for key in keys],
        [*((at, at) for at in halves), *((at.astimezone(UTC).isoformat(), at) for at in halves)],
    )
    return Lake(
        hours, columns, keys, {"hour": hour_cases, **{name: _texts(keys, text) for name, text in fields.items()}}
    )


def _texts(keys: Sequence[Key], form: str) -> FieldCases:
    def of(key: Key) -> str:
        assert isinstance(key, Interval)
        return key.start.strftime(form)

    return FieldCases(of, [(of(key), of(key)) for key in keys])


def _product() -> Lake:
    days = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-03", name="date")
    awkward = PartitionBySequence(["a|b", "a/b=%2F", "_é ü", "..", "int:1"], name="kind")
    definition = PartitionByProduct([days, awkward])
    keys = list(definition.keys())[::2]
    noon = datetime(2013, 1, 1, 12, tzinfo=UTC)
    fields = {
        "date": FieldCases(
            lambda key: part(key, "date"),
            [(f"2013-01-0{day}", datetime(2013, 1, day, tzinfo=UTC)) for day in (1, 2)],
            [(noon, noon), ("2013-01-03", datetime(2013, 1, 3, tzinfo=UTC))],
        ),
        "kind": FieldCases(lambda key: part(key, "kind"), [(kind.value, kind.value) for kind in awkward.segments]),
    }
    return Lake(definition, {"kind": "{kind}", "date": Column("%Y-%m-%d", "date")}, keys, fields)


def _runtime() -> Lake:
    shards = PartitionAtRuntime("shard")
    values = [-3, 0, 5, 12, 123]
    shard_cases = FieldCases(lambda key: part(key, "shard"), [(value, value) for value in values], [(7, 7), ("11", 11)])
    return Lake(shards, None, [shards.key(value) for value in values], {"shard": shard_cases})


def _tuples() -> Lake:
    results = PartitionAtRuntime("results")
    values = [("nfl", 1982), ("nfl", 1983), ("n,l|=", 1982), ("..", -7)]
    columns: dict[str, str | Column] = {"league": "{results[0]}", "season": Column("{results[1]}", "int")}

    def at(number: int) -> Callable[[Key], Any]:
        return lambda key: part(key, "results")[number]

    fields = {
        "league": FieldCases(at(0), [(value[0], value[0]) for value in values]),
        "season": FieldCases(at(1), [(value[1], value[1]) for value in values], [(1983.5, 1983.5)]),
    }
    return Lake(results, columns, [results.key(value) for value in values], fields)


LAKES: Mapping[str, Lake] = {
    "hours": _hours(None),
    "hours in two columns": _hours({"day": Column("%Y-%m-%d", "date"), "hh": "%H%z"}, {"hh": "%H%z"}),
    "product": _product(),
    "runtime": _runtime(),
    "tuples": _tuples(),
}


def _condition(lake: Lake) -> st.SearchStrategy[Question]:
    def single(name: str) -> st.SearchStrategy[Question]:
        of, exact, bounds = lake.fields[name]
        equal = st.tuples(st.sampled_from(["==", "!="]), st.sampled_from(exact))
        order = st.tuples(st.sampled_from(["<", "<=", ">", ">="]), st.sampled_from([*exact, *bounds]))

        def compared(comparison: tuple[str, tuple[Any, Any]]) -> Question:
            sign, (literal, value) = comparison
            return _OPERATORS[sign](field(name), literal), lambda key: _OPERATORS[sign](of(key), value)

        def among(chosen: list[tuple[Any, Any]]) -> Question:
            values = [value for _, value in chosen]
            return field(name).isin([literal for literal, _ in chosen]), lambda key: of(key) in values

        def between(ends: tuple[tuple[Any, Any], tuple[Any, Any]]) -> Question:
            (low, lowest), (high, end) = ends
            return field(name).between(low, high), lambda key: lowest <= of(key) < end

        end = st.sampled_from([*exact, *bounds])
        return st.one_of(
            equal.map(compared), order.map(compared), st.lists(st.sampled_from(exact), max_size=3).map(among),
            st.tuples(end, end).map(between),
        )  # fmt: skip

    return st.sampled_from(sorted(lake.fields)).flatmap(single)


def _not(question: Question) -> Question:
    where, holds = question
    return ~where, lambda key: not holds(key)


def _both(questions: tuple[Question, Question]) -> Question:
    (where, holds), (other, also) = questions
    return where & other, lambda key: holds(key) and also(key)


def _either(questions: tuple[Question, Question]) -> Question:
    (where, holds), (other, also) = questions
    return where | other, lambda key: holds(key) or also(key)


def questions(lake: Lake) -> st.SearchStrategy[Question]:
    """Filters over the partitions of *lake*, with what they mean."""
    return st.recursive(
        _condition(lake),
        lambda inner: st.one_of(
            inner.map(_not), st.tuples(inner, inner).map(_both), st.tuples(inner, inner).map(_either)
        ),
        max_leaves=4,
    )
