"""``airflow asset-partitions records``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable
from datetime import UTC
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Column, Table

from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import InvalidDefinitionError, PartitionError
from airflow_partitions.engine.ledger.addresses import Addresses
from airflow_partitions.operate.cli.output import console

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.core.keys import Key
    from airflow_partitions.engine.ledger.ledger_record import LedgerRecord

_COUNTS = ("rows", "files", "bytes")


def show_records(args: Namespace) -> None:
    """Show which partitions of an asset were materialized, or a range of them."""
    from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
    from airflow_partitions.engine.ledger.ledger import current_records

    try:
        meaning = read_serialized_dags().definition(args.asset)
        selection = _selection(Addresses.by(meaning).definition, args.start, args.until)
        entries = current_records(args.asset, meaning, selection)
        if args.output == "json":
            print(json.dumps([_form(key, record) for key, record in entries]))  # noqa: T201 - for scripts
            return
        console().print(_table(entries, args.asset))
    except PartitionError as error:
        sys.exit(str(error))


def _selection(definition: PartitionDefinition, start: str | None, until: str | None) -> Selection:
    time = definition.time
    if time is None:
        if start is not None or until is not None:
            raise InvalidDefinitionError(f"--from and --until choose intervals; {definition!r} has no time dimension")
        return Selection.all(definition)
    low = FIRST if start is None else time.moment(start, "--from")
    high = LAST if until is None else time.moment(until, "--until")
    return Selection(definition, (Box(time.overlapping(low, high)),))


def _table(entries: Iterable[tuple[Key, LedgerRecord]], asset: str) -> Table:
    """What fits into the 80 columns of a terminal; all of it is in the JSON form."""
    entries = list(entries)
    counts = [Column(name, justify="right", no_wrap=True) for name in _COUNTS]
    checks = [Column("checks", no_wrap=True)] if any(record.extra.get("checks") for _, record in entries) else []
    texts = [Column(name, no_wrap=True) for name in ("partition", "last, in UTC")]
    table = Table(*texts, *counts, *checks, Column("by", no_wrap=True, ratio=1), title=asset, box=SIMPLE, expand=True)
    for key, record in entries:
        last = f"{record.last.astimezone(UTC):%Y-%m-%d %H:%M}"
        numbers = [str(record.extra.get(name, "")) for name in _COUNTS]
        results = [_checked(record)] if checks else []
        table.add_row(escape(str(key)), last, *numbers, *results, escape(record.dag_id or "outside"))
    return table


def _checked(record: LedgerRecord) -> str:
    """How the checks of a partition ended; what is published passes all but those that only warn."""
    passed = [check["passed"] for check in record.extra.get("checks", ())]
    return f"{passed.count(False)} failed" if False in passed else "passed" * bool(passed)


def _form(key: Key, record: LedgerRecord) -> dict[str, Any]:
    return {
        "key": str(key),
        "first": record.first.isoformat(),
        "last": record.last.isoformat(),
        "dag_id": record.dag_id,
        "run_id": record.run_id,
        "extra": dict(record.extra),
    }
