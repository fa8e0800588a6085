"""The states of partitions, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection, parse_selection, selection_text
from airflow_partitions.core.errors import SelectionError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, asset_dags, partitioned_asset
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.measures import Measures
from airflow_partitions.engine.ledger.producers import outlets
from airflow_partitions.operate.operations.page import MOST, USUAL
from airflow_partitions.operate.states import State, counts, explain, states_of
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.newest_records import newest_records

#: The most stretches of a page.
MOST_STRETCHES = 10_000
# A longer text of what was counted is for nobody to read, and no address has room for it.
_LONGEST_TEXT = 2_000


def list_states(
    asset: str,
    *,
    select: str | None = None,
    states: Sequence[str] | None = None,
    oldest_first: bool = False,
    limit: int = USUAL,
    cursor: str | None = None,
    dags: Collection[str] | None = None,
) -> dict[str, Any]:
    """The states of an asset's partitions, in stretches of one state each, the newest first.

    :param select: only these, as text.
    :param states: only those in one of these states.
    :param limit: of stretches.
    :param dags: name only those upstream assets whose own Dags are all among these; all if not given.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection, a state or the cursor can't be read.
    :raises InvalidKeyError: for what is no key of the asset.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    if not 1 <= limit <= MOST_STRETCHES:
        raise SelectionError(f"limit={limit}; expected a number of stretches from 1 to {MOST_STRETCHES:,}")
    of, now = partitioned_asset(asset), datetime.now(UTC)
    return states_of(
        of,
        _selected(of, select, now),
        states=None if states is None else set(map(State.called, states)),
        newest_first=not oldest_first,
        limit=limit,
        cursor=cursor,
        shows=_shows(dags),
        now=now,
    ).to_json()


def count_states(asset: str, *, select: str | None = None) -> dict[str, Any]:
    """Numbers of an asset's partitions by state, and the canonical text of what was selected.

    :param select: only these, as text.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection can't be read.
    :raises InvalidKeyError: for what is no key of the asset.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    of, now = partitioned_asset(asset), datetime.now(UTC)
    selection = _selected(of, select, now)
    text = "" if selection is None else selection_text(selection)
    return counts(of, selection, now=now).to_json() | {"selection": text if 0 < len(text) <= _LONGEST_TEXT else None}


def show_partition(asset: str, key: str, *, dags: Collection[str] | None = None) -> dict[str, Any]:
    """All that is known of one partition, and why it is what it is.

    :param dags: tell only of those other assets whose own Dags are all among these; of all if not given.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises InvalidKeyError: if it has no such partition.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    of = partitioned_asset(asset)
    upstream = {name for upstreams in of.upstreams.values() for name in upstreams.leaves}
    downstream = {name for dag_id in of.dags.consumers for name in outlets(dag_id)}
    return explain(of, key, shows=_shows(dags)).to_json() | {
        "upstream_hidden": _hides(upstream, dags),
        "downstream_hidden": _hides(downstream, dags),
    }


def list_materializations(asset: str, *, select: str | None = None, limit: int = USUAL) -> dict[str, Any]:
    """The newest partitions that were materialized, in order of time, with what was written and read for them.

    :param select: only these, as text.
    :param limit: of partitions.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection can't be read, or the limit is out of range.
    :raises InvalidKeyError: for what is no key of the asset.
    :raises UnknownVersionError: if another release wrote the ledger.
    """
    if not 1 <= limit <= MOST:
        raise SelectionError(f"limit={limit}; expected a number of partitions from 1 to {MOST:,}")
    of = AssetStates(partitioned_asset(asset), datetime.now(UTC))
    selection = _selected(of.asset, select, of.now)
    partitions = of.everything() if selection is None else of.existing(selection)
    return {
        "asset": asset,
        "materializations": [_materialization_form(of, *one) for one in newest_records(of, partitions, limit)],
    }


def _materialization_form(of: AssetStates, key: Key, record: LedgerRecord) -> dict[str, Any]:
    interval = of.definition.interval_of(key)
    return {
        "key": str(key),
        "start": None if interval is None else interval.start.isoformat(),
        "end": None if interval is None else interval.end.isoformat(),
        "at": record.last.astimezone(UTC).isoformat(),
        "dag_id": record.dag_id,
        "run_id": record.run_id,
        **attrs.asdict(Measures.of(record.extra)),
    }


def _hides(names: Iterable[str], dags: Collection[str] | None) -> bool:
    """Whether one of the assets of those *names* may not be told of where only these *dags* may be."""
    return dags is not None and any(not each.owned_by(dags) for name in names for each in asset_dags(name).values())


def _selected(asset: PartitionedAsset, text: str | None, now: datetime) -> Selection | None:
    """The partitions of an *asset* that *text* selects; ``None`` without a text."""
    return None if text is None else parse_selection(asset.definition, text, closed_by=now)


def _shows(dags: Collection[str] | None) -> Callable[[PartitionedAsset], bool] | None:
    """Whether an asset may be told of where only these *dags* may be."""
    return None if dags is None else lambda asset: asset.dags.owned_by(dags)
