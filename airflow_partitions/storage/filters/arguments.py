"""Input filter and output key given from outside, as flat text: for REST callers and run configurations.

.. code-block:: text

    dataset.results.input.partition.filter.league.value = nfl
    dataset.results.input.partition.filter.season.lower = 1980
    dataset.results.input.partition.filter.season.upper = 1990
    dataset.totals.output.partition.key.league          = nfl
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import reduce
from operator import and_
from typing import Any

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import FilterError, InvalidKeyError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.filters.filter import Filter, field
from airflow_partitions.storage.layout.column import TYPES
from airflow_partitions.storage.layout.layout import Layout

_ENDS = ("value", "lower", "upper")


def input_filter(arguments: Mapping[str, Any], dataset: str) -> Filter | None:
    """What *arguments* say about reading *dataset*: a filter, ``None`` if they say nothing.

    A range holds from ``lower`` up to, not including, ``upper``. One argument
    ``dataset.<name>.input.partition.filter`` may hold a whole filter instead, as text or JSON.

    :raises FilterError: for an argument of no known form.
    """
    start = f"dataset.{dataset}.input.partition.filter"
    parts = [_whole(value) for name, value in arguments.items() if name == start]
    fields: dict[str, dict[str, Any]] = {}
    for name, value in arguments.items():
        if not name.startswith(f"{start}."):
            continue
        target, _, end = name.removeprefix(f"{start}.").rpartition(".")
        if not target or end not in _ENDS:
            near = get_close_matches(end, _ENDS, n=1, cutoff=0)[0]
            raise FilterError(f"argument {name!r} is not known; expected {start}.<field>.{near}")
        fields.setdefault(target, {})[end] = value
    for target, limits in fields.items():
        if "value" in limits and len(limits) > 1:
            raise FilterError(f"{start}.{target} has a value and a bound; expected one or the other")
        parts.append(
            field(target) == limits["value"]
            if "value" in limits
            else field(target).between(limits.get("lower"), limits.get("upper"))
        )
    return reduce(and_, parts) if parts else None


def output_key(arguments: Mapping[str, Any], dataset: str, of: PartitionDefinition | Layout) -> Key | None:
    """The key that *arguments* name for writing *dataset*, ``None`` if they name none.

    :param of: what defines the key; a layout, where the values of keys that are tuples are named by their columns.
    :raises InvalidKeyError: if a dimension is missing or unknown, or the definition has no such key.
    """
    start = f"dataset.{dataset}.output.partition.key"
    definition = of.definition if isinstance(of, Layout) else of
    if start in arguments:
        return definition.parse(str(arguments[start]))
    bounds = {
        name.removeprefix(f"{start}."): value for name, value in arguments.items() if name.startswith(f"{start}.")
    }
    if not bounds:
        return None
    if isinstance(of, Layout) and of.fields:
        return of.key({name: _typed(of, name, value) for name, value in bounds.items()})
    dimensions = definition.dimensions
    if set(bounds) != set(dimensions):
        raise InvalidKeyError(
            f"{start} has {sorted(bounds)}; expected a value for each of {list(dimensions)}", given=bounds
        )
    parts: dict[str, Any] = {name: dimension.parse(str(bounds[name])) for name, dimension in dimensions.items()}
    return definition.key(parts if len(parts) > 1 else next(iter(parts.values())))


def _typed(layout: Layout, column: str, value: Any) -> Any:
    """The text *value* as one of *column*; as it is if it can't be: the layout tells what it expects."""
    try:
        return TYPES[layout.columns[column].type](str(value)) if column in layout.columns else value
    except ValueError:
        return value


def _whole(value: Any) -> Filter:
    return Filter.parse(value) if isinstance(value, str) else Filter.from_json(value)
