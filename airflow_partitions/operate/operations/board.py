"""Many assets over one stretch of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import attrs

from airflow_partitions.core.calendars.clock import Clock
from airflow_partitions.core.errors import SelectionError
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.graph.asset_order import upstream_first
from airflow_partitions.engine.graph.asset_surroundings import AssetSurroundings, asset_groups
from airflow_partitions.engine.graph.dag_details import DagDetails, read_dag_details
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, PartitionedAsset, asset_dags, read_assets
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.operations.chosen_assets import chosen_assets
from airflow_partitions.operate.operations.page import page
from airflow_partitions.operate.operations.since import stretch
from airflow_partitions.operate.states.axis import Slot
from airflow_partitions.operate.states.board import BoardColumns, Strip, strips_of
from airflow_partitions.operate.states.grid import Cell, cell_form
from airflow_partitions.operate.states.tally import by_state

# Their events since upkeep last ran are in memory together.
_AT_ONCE = 300


def show_board(asked: ShowBoard, asker: Asker) -> dict[str, Any]:
    """All assets over one stretch of time, what is upstream before what is made of it."""
    from airflow.settings import TIMEZONE

    now = datetime.now(UTC)
    start, end = stretch(asked.since, asked.until, now)
    columns = BoardColumns.of(start, end, TIMEZONE, asked.columns)
    every = asset_dags()
    surroundings = AssetSurroundings.of(every, asker.readable)
    around = chosen_assets(asked, asker, every)
    order = upstream_first({name: surroundings.upstream(dags) for name, dags in around.items()})
    drawing = _Drawing(Clock(TIMEZONE))

    def forms() -> Iterator[dict[str, Any]]:
        chosen = None if asked.states is None else set(asked.states)
        for portion in portions(_after(order, asked.cursor), min(_AT_ONCE, asked.limit + 1)):
            details = read_dag_details({dag_id for name in portion for dag_id in around[name].owners})
            may_start = asker.startable({dag_id for name in portion for dag_id in around[name].owners})
            groups = asset_groups(portion)
            assets = {asset.name: asset for asset in read_assets([around[name] for name in portion])}
            strips = strips_of(list(assets.values()), columns, now, opened=asked.opened)
            for name in portion:
                strip = strips[name]
                if chosen is not None and strip.error is None and chosen.isdisjoint(by_state(strip.counts)):
                    continue
                own = [details[dag_id] for dag_id in around[name].owners if dag_id in details]
                yield drawing.strip_form(assets[name], strip) | {
                    "group": groups.get(name, ""),
                    "tags": sorted({tag for one in own for tag in one.tags}),
                    "owners": sorted({owner for one in own for owner in one.owners}),
                    "upstream": surroundings.upstream(around[name]),
                    "paused": _paused(around[name], details),
                    "may_change": set(around[name].owners) <= set(may_start),
                }

    return {
        "now": now.isoformat(timespec="seconds"),
        "timezone": str(TIMEZONE),
        "unit": columns.unit,
        "columns": drawing.column_forms(columns),
        **page("strips", forms(), asked.limit, dict),
        "scales": drawing.scales,
        "cells": [cell_form(cell) for cell in drawing.cells],
        "hidden": sum(not asker.sees(dags) for dags in every.values()),
    }


def _paused(asset: AssetDags, details: Mapping[str, DagDetails]) -> list[str]:
    return [dag_id for dag_id in asset.producers if dag_id in details and details[dag_id].paused]


def _after(order: list[str], cursor: str | None) -> list[str]:
    """Those of an *order* after the last of the page before.

    :raises SelectionError: if that is not among them any more.
    """
    if cursor is None:
        return order
    if cursor not in order:
        raise SelectionError(f"cursor={cursor!r} is of no page; expected that of the page before")
    return order[order.index(cursor) + 1 :]


@attrs.frozen
class _Drawing:
    """What the strips of an answer share: their scales and their cells, each told once."""

    clock: Clock
    scales: list[dict[str, Any]] = attrs.field(factory=list)
    cells: list[Cell] = attrs.field(factory=list)
    _scale_numbers: dict[tuple[str, tuple[tuple[int, int, Slot], ...]], int] = attrs.field(factory=dict)
    _cell_numbers: dict[frozenset[tuple[Any, int]], int] = attrs.field(factory=dict)

    def column_forms(self, columns: BoardColumns) -> list[dict[str, Any]]:
        """The columns, with the times at which they begin and end."""
        texts = [self.clock.datetime(at).isoformat() for at in columns.edges]
        return [{"start": start, "end": end} for start, end in pairwise(texts)]

    def strip_form(self, asset: PartitionedAsset, strip: Strip) -> dict[str, Any]:
        """A strip, with the places of its scale and cells in the lists of all."""
        places = [self._cell(cell) for cell in strip.cells]
        counts = {str(state): number for state, number in by_state(strip.counts).items()}
        dimensions = asset.definition.dimensions.items()
        return {
            "asset": asset.name,
            "producers": list(asset.dags.producers),
            "absent": [one.to_json() for one in asset.dags.absent],
            "folded": next((name for name, one in dimensions if one.time is None), None),
            "scale": self._scale(asset, strip),
            "runs": _placed(strip.runs, places),
            "counts": counts,
            "total": sum(counts.values()),
            "rows": [{"value": row.value, "runs": _placed(row.runs, places)} for row in strip.rows],
            "row_count": strip.row_count,
            "error": strip.error,
        }

    def _cell(self, cell: Cell) -> int:
        key = frozenset(cell.items())
        if (number := self._cell_numbers.get(key)) is None:
            number = self._cell_numbers[key] = len(self.cells)
            self.cells.append(cell)
        return number

    def _scale(self, asset: PartitionedAsset, strip: Strip) -> int | None:
        time = asset.definition.time
        if time is None or strip.slots is None:
            return None
        key = time.timezone, strip.slots
        if (number := self._scale_numbers.get(key)) is None:
            number = self._scale_numbers[key] = len(self.scales)
            slots = [_slot_form(time.clock, *placed) for placed in strip.slots]
            self.scales.append({"timezone": time.timezone, "slots": slots})
        return number


def _placed(runs: Iterable[tuple[int, int]], places: list[int]) -> list[tuple[int, int]]:
    return [(length, places[cell]) for length, cell in runs]


def _slot_form(clock: Clock, column: int, columns: int, slot: Slot) -> dict[str, Any]:
    start, end = slot.time_range or (0, 0)
    return {
        "column": column,
        "columns": columns,
        "first": slot.first,
        "last": slot.last,
        "count": slot.count,
        "start": clock.datetime(start).isoformat(),
        "end": clock.datetime(end).isoformat(),
    }
