"""The states of partitions, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection, parse_selection, selection_text
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.graph.partitioned_assets import (
    AssetDags,
    PartitionedAsset,
    asset_dags,
    partitioned_asset,
)
from airflow_partitions.engine.ledger.ledger_record import LedgerRecord
from airflow_partitions.engine.ledger.measures import Measures
from airflow_partitions.engine.ledger.producers import outlets
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.states import CountStates, ListMaterializations, ListStates, ShowPartition
from airflow_partitions.operate.operations.missed import missed_words
from airflow_partitions.operate.states import counts, explain, states_of
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.newest_records import newest_records

# A longer text of what was counted is for nobody to read, and no address has room for it.
_LONGEST_TEXT = 2_000


def list_states(asked: ListStates, asker: Asker) -> dict[str, Any]:
    """The states of an asset's partitions, in stretches of one state each."""
    asset, now = partitioned_asset(asked.asset), datetime.now(UTC)
    return states_of(
        asset,
        _selected(asset, asked.select, now),
        states=None if asked.states is None else set(asked.states),
        newest_first=not asked.oldest_first,
        limit=asked.limit,
        cursor=asked.cursor,
        shows=_shows(asker),
        now=now,
    ).to_json()


def count_states(asked: CountStates, _: Asker) -> dict[str, Any]:
    """Numbers of an asset's partitions by state, and the canonical text of what was selected."""
    asset, now = partitioned_asset(asked.asset), datetime.now(UTC)
    selection = _selected(asset, asked.select, now)
    text = "" if selection is None else selection_text(selection)
    shown = text if 0 < len(text) <= _LONGEST_TEXT else None
    return counts(asset, selection, now=now).to_json() | {"selection": shown}


def show_partition(asked: ShowPartition, asker: Asker) -> dict[str, Any]:
    """All that is known of one partition, and why it is what it is."""
    asset = partitioned_asset(asked.asset)
    upstream = {name for upstreams in asset.upstreams.values() for name in upstreams.leaves}
    downstream = {name for dag_id in asset.dags.consumers for name in outlets(dag_id)}
    form = explain(asset, asked.key, shows=_shows(asker)).to_json()
    form["reasons"] += [text for _, text in missed_words(asset)]
    return form | {
        "upstream_hidden": _hides(upstream, asker),
        "downstream_hidden": _hides(downstream, asker),
    }


def list_materializations(asked: ListMaterializations, _: Asker) -> dict[str, Any]:
    """The newest partitions that were materialized, in order of time, with what was written and read for them."""
    of = AssetStates(partitioned_asset(asked.asset), datetime.now(UTC))
    selection = _selected(of.asset, asked.select, of.now)
    partitions = of.everything() if selection is None else of.existing(selection)
    return {
        "asset": asked.asset,
        "materializations": [_materialization_form(of, *one) for one in newest_records(of, partitions, asked.limit)],
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
        "checks": [
            {"name": check["name"], "passed": check["passed"]}
            for check in _listed(record.extra.get("checks"))
            if isinstance(check.get("name"), str) and isinstance(check.get("passed"), bool)
        ],
        **attrs.asdict(Measures.of(record.extra)),
    }


def _listed(checks: Any) -> list[Mapping[str, Any]]:
    """The *checks* of an event, which anybody may have written."""
    return [check for check in checks if isinstance(check, Mapping)] if isinstance(checks, list) else []


def _hides(names: Iterable[str], asker: Asker) -> bool:
    """Whether one of the assets of those *names* may not be told of."""
    return asker.readable is not None and any(
        not asker.sees(dags) for name in names for dags in asset_dags(name).values()
    )


def _selected(asset: PartitionedAsset, text: str | None, now: datetime) -> Selection | None:
    """The partitions of an *asset* that *text* selects; ``None`` without a text."""
    return None if text is None else parse_selection(asset.definition, text, closed_by=now)


def _shows(asker: Asker) -> Callable[[AssetDags], bool] | None:
    """Whether an asset may be told of; ``None`` if all may be."""
    return None if asker.readable is None else asker.sees
