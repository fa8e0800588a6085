"""``airflow asset-partitions keys``."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from airflow_partitions.cli.output import show
from airflow_partitions.cli.source import source_of
from airflow_partitions.errors import PartitionError
from airflow_partitions.operations.keys import list_keys


def keys(args: Namespace) -> None:
    """Show the valid keys of an asset."""
    try:
        answer = source_of(args).ask(
            list_keys,
            args.asset,
            select=args.select,
            search=args.search,
            dimension=args.dimension,
            oldest_first=args.oldest_first,
            limit=args.limit,
            cursor=args.after,
        )
    except PartitionError as error:
        sys.exit(str(error))
    rows = ([each["key"], each["start"], each["end"]] for each in answer["keys"])
    show(args.output, answer, rows, lambda: _table(args.asset, answer))


def _table(asset: str, answer: dict[str, Any]) -> Table:
    shown, count = len(answer["keys"]), answer["count"]
    of = "" if count is None else f" of {count:,}"
    more = "" if answer["cursor"] is None else f"; the next: --after {answer['cursor']!r}"
    table = Table("key", "start", "end", title=escape(asset), caption=escape(f"{shown:,}{of}{more}"), box=SIMPLE)
    for each in answer["keys"]:
        table.add_row(escape(each["key"]), each["start"], each["end"])
    return table
