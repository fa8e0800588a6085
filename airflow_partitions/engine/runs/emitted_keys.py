"""Check of the keys that a task puts on its events by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Asset

from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.engine.ledger.addresses import keys_of
from airflow_partitions.engine.timetables.asset_extra import read_extra


def check_emitted_keys(context: Mapping[str, Any]) -> None:
    """Fail the task when it ends, if it has emitted keys that its assets don't have.

    Airflow takes any text: ``outlet_events[asset].add_partitions([…])``. Nobody could make anything of such an event.
    """
    task = context["task"]
    then = task._post_execute_hook  # noqa: SLF001 - what BaseOperator(post_execute=…) sets

    def finish(context: Mapping[str, Any], result: Any) -> None:
        if then is not None:
            then(context, result)
        _check(context)

    task._post_execute_hook = finish  # noqa: SLF001


def _check(context: Mapping[str, Any]) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    definitions = {
        outlet.name: produced.definition
        for outlet in context["task"].outlets
        if isinstance(outlet, Asset) and (produced := read_extra(outlet.extra))
    }
    events = context["outlet_events"]
    for asset in [asset for asset in events if isinstance(asset, Asset) and asset.name in definitions]:
        for text in sorted(events[asset].partition_keys):
            try:
                keys_of(definitions[asset.name].known, text)
            except InvalidKeyError as error:
                raise AirflowFailException(f"event of asset {asset.name!r}: {error}") from error
