"""``airflow asset-partitions keys``."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from airflow_partitions.core.errors import InvalidDefinitionError, PartitionError
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.output import show
from airflow_partitions.operate.cli.source import source_of
from airflow_partitions.operate.contract.keys import AddKeys, ListKeys, RemoveKeys
from airflow_partitions.storage.metadata.counts import count


def keys(args: Namespace) -> None:
    """Show the valid keys of an asset."""
    if args.add or args.remove:
        _change(args)
        return
    try:
        answer = source_of(args).ask(asked(ListKeys, args))
    except PartitionError as error:
        sys.exit(str(error))
    rows = ([each["key"], each["start"], each["end"]] for each in answer["keys"])
    show(args.output, answer, rows, lambda: _table(args.asset, answer))


def _change(args: Namespace) -> None:
    """Add or remove keys that are known only at runtime."""
    try:
        if args.add and args.remove:
            raise InvalidDefinitionError("expected keys to add or keys to remove, not both at once")
        change = asked(AddKeys, args, keys=args.add) if args.add else asked(RemoveKeys, args, keys=args.remove)
        answer = source_of(args).ask(change)
    except PartitionError as error:
        sys.exit(str(error))
    verb = "added to" if args.add else "removed from"
    done = f"{count(len(answer['keys']), 'key')} {verb} {answer['name']!r}: {', '.join(answer['keys'])}"
    words = f"dry run, nothing was changed: {done}" if answer["dry_run"] else done
    show(args.output, answer, ([key] for key in answer["keys"]), lambda: Text(words))


def _table(asset: str, answer: dict[str, Any]) -> Table:
    shown, count = len(answer["keys"]), answer["count"]
    of = "" if count is None else f" of {count:,}"
    more = "" if answer["cursor"] is None else f"; the next: --after {answer['cursor']!r}"
    table = Table("key", "start", "end", title=escape(asset), caption=escape(f"{shown:,}{of}{more}"), box=SIMPLE)
    for each in answer["keys"]:
        table.add_row(escape(each["key"]), each["start"], each["end"])
    return table
