"""What failed, by what made it fail."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from airflow_partitions.core.errors import SelectionError
from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.graph.partitioned_assets import asset_dags, read_assets
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.operations.chosen_assets import chosen_assets
from airflow_partitions.operate.operations.since import since_moment
from airflow_partitions.operate.states.failures import AssetFailures, failures_of, grouped

# Their events since upkeep last ran are in memory together.
_AT_ONCE = 100
_CURSOR = re.compile(r"(\d{1,9})-([0-9a-f]{12})")


def list_failures(asked: ListFailures, asker: Asker) -> dict[str, Any]:
    """The failed partitions of all assets by their errors, the most partitions first."""
    now = datetime.now(UTC)
    since = None if asked.since is None else since_moment(asked.since, now)
    after = None if asked.cursor is None else _position(asked.cursor)
    failures: list[AssetFailures] = []
    for portion in portions(list(chosen_assets(asked, asker, asset_dags()).values()), _AT_ONCE):
        failures += failures_of(list(read_assets(portion)), now, since).values()
    groups = (one for one in grouped(failures) if after is None or (-len(one.partitions), one.id) > after)
    some = list(islice(groups, asked.limit + 1))
    last = some[asked.limit - 1] if len(some) > asked.limit else None
    return {
        "now": now.isoformat(timespec="seconds"),
        "failures": [group.to_json() for group in some[: asked.limit]],
        "unread": sum(each.unread for each in failures),
        "problems": [each.problem for each in failures if each.problem is not None],
        "cursor": None if last is None else f"{len(last.partitions)}-{last.id}",
    }


def _position(cursor: str) -> tuple[int, str]:
    """Where the page before has ended.

    :raises SelectionError: for a *cursor* that no page has.
    """
    if (match := _CURSOR.fullmatch(cursor)) is None:
        raise SelectionError(f"cursor={cursor!r} is of no page; expected that of the page before")
    return -int(match[1]), match[2]
