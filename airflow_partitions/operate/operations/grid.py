"""Pictures of an asset's partitions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import parse_selection
from airflow_partitions.core.errors import InvalidDefinitionError, SelectionError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.grid import InView, ShowGrid
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.sight import View
from airflow_partitions.operate.states.version import version_of
from airflow_partitions.operate.states.view import grid


def show_grid(asked: ShowGrid, asker: Asker) -> dict[str, Any] | None:
    """A picture of an asset's partitions; ``None`` if the asker has seen it.

    A product without time has its second dimension across.
    """
    of = AssetStates(partitioned_asset(asked.asset), datetime.now(UTC))
    version = version_of(of)
    if asker.seen == version:
        return None
    return grid(of, view_of(of, asked)).to_json() | {"version": version}


def view_of(of: AssetStates, asked: InView) -> View:
    """What is to be seen of an asset.

    :raises SelectionError: where that makes no sense.
    """
    time_range = _instant(of.definition, "start", asked.start), _instant(of.definition, "end", asked.end)
    if None not in time_range and time_range[0] >= time_range[1]:  # type: ignore[operator]
        raise SelectionError(f"start={asked.start!r} is not before end={asked.end!r}; expected an earlier moment")
    selection = None if asked.select is None else parse_selection(of.definition, asked.select, closed_by=of.now)
    chosen_across, chosen_down = _axes(of.definition, asked.across, asked.down)
    return View(
        time_range=time_range,
        selection=selection,
        across=chosen_across,
        down=chosen_down,
        columns=asked.columns,
        search=asked.search or "",
        row_limit=asked.row_limit,
        row_cursor=asked.row_cursor,
    )


def _instant(definition: PartitionDefinition, name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if definition.time is None:
        raise SelectionError(f"{name}={text!r}: {definition!r} has no time; leave it out")
    try:
        return definition.time.moment(text, name)
    except InvalidDefinitionError as error:
        raise SelectionError(str(error)) from None


def _axes(definition: PartitionDefinition, across: str | None, down: str | None) -> tuple[str | None, str | None]:
    """The names of the dimensions that run across and down, ``None`` for none."""
    for name in filter(None, (across, down)):
        if name not in definition.dimensions:
            near = ", ".join(nearest_texts(name, definition.dimensions))
            raise SelectionError(f"{definition!r} has no dimension {name!r}; nearest: {near}")
    time = None if definition.time is None else definition.time.name
    if down and down == time:
        raise SelectionError(f"down={down!r} is the time dimension, which can only run across")
    if down and down == across:
        raise SelectionError(f"down={down!r} runs across already; expected another dimension, or none: down=")
    others = [name for name in definition.dimensions if name not in (time, across, down)]
    if down is None:
        down = others.pop(0) if others else ""
    if across is None:
        across = time or (others[0] if others else "")
    return across or None, down or None
