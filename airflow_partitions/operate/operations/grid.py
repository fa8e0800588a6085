"""Pictures of an asset's partitions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import parse_selection
from airflow_partitions.core.errors import InvalidDefinitionError, SelectionError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.operations.page import MOST, USUAL
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.version import version_of
from airflow_partitions.operate.states.view import View, grid

#: The most columns of a picture.
MOST_COLUMNS = 2_000
#: Columns of a picture where nobody says how many.
USUAL_COLUMNS = 400


def show_grid(
    asset: str,
    *,
    start: str | None = None,
    end: str | None = None,
    columns: int = USUAL_COLUMNS,
    across: str | None = None,
    down: str | None = None,
    select: str | None = None,
    search: str | None = None,
    row_limit: int = USUAL,
    row_cursor: str | None = None,
    seen: str | None = None,
) -> dict[str, Any] | None:
    """A picture of an asset's partitions at any zoom: columns of one interval each, or of several if they are many.

    :param start: the first moment in view, a date (midnight in the asset's zone) or a time with its UTC offset; by
        default where the partitions begin.
    :param end: the first moment after the view; by default where the partitions end by now.
    :param columns: the most of them.
    :param across: name of the dimension whose keys are the columns; by default time, else the second dimension of a
        product. Empty for none: all is in one column.
    :param down: name of the dimension whose keys are the rows, not time; by default the first that is not across.
        Empty for none: all is in one row.
    :param select: only these, as text.
    :param search: only rows with this part in their texts, in capitals or not.
    :param row_limit: the most rows of a page.
    :param row_cursor: of the page before, asked for with the same arguments.
    :param seen: the version of an earlier answer to the same question; ``None`` is the answer if it still holds.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection, a moment or a dimension can't be read, or a number is out of range.
    :raises InvalidKeyError: for what is no key of the asset.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    for name, number, most in (("columns", columns, MOST_COLUMNS), ("row_limit", row_limit, MOST)):
        if not 1 <= number <= most:
            raise SelectionError(f"{name}={number}; expected a number from 1 to {most:,}")
    of = AssetStates(partitioned_asset(asset), datetime.now(UTC))
    version = version_of(of)
    if seen == version:
        return None
    time_range = _instant(of.definition, "start", start), _instant(of.definition, "end", end)
    if None not in time_range and time_range[0] >= time_range[1]:  # type: ignore[operator]
        raise SelectionError(f"start={start!r} is not before end={end!r}; expected an earlier moment")
    selection = None if select is None else parse_selection(of.definition, select, closed_by=of.now)
    chosen_across, chosen_down = _axes(of.definition, across, down)
    view = View(
        time_range=time_range,
        selection=selection,
        across=chosen_across,
        down=chosen_down,
        columns=columns,
        search=search or "",
        row_limit=row_limit,
        row_cursor=row_cursor,
    )
    return grid(of, view).to_json() | {"version": version}


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
