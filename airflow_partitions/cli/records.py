"""``airflow asset-partitions records``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from airflow_partitions.calendars.timeline import FIRST, LAST
from airflow_partitions.dependencies import Selection
from airflow_partitions.dependencies.box import Box
from airflow_partitions.errors import InvalidDefinitionError, PartitionError
from airflow_partitions.history.addresses import Addresses

if TYPE_CHECKING:
    from airflow_partitions.definitions import PartitionDefinition
    from airflow_partitions.history.ledger_record import LedgerRecord
    from airflow_partitions.keys import Key

_COUNTS = ("rows", "files", "bytes")


def show_records(args: Namespace) -> None:
    """Show which partitions of an asset were materialised, or a range of them."""
    from airflow_partitions.history.ledger import current_records
    from airflow_partitions.upkeep.serialized_dags import read_serialized_dags

    try:
        meaning = read_serialized_dags().definition(args.asset)
        selection = _selection(Addresses.by(meaning).definition, args.start, args.until)
        entries = current_records(args.asset, meaning, selection)
        if args.output == "json":
            print(json.dumps([_form(key, record) for key, record in entries]))  # noqa: T201 - for scripts
            return
        table = Table(Column("partition", no_wrap=True), "last materialised", "first", "by", *_COUNTS, title=args.asset)
        for key, record in entries:
            by = f"{record.dag_id}, {record.run_id}" if record.dag_id else "an event from outside"
            times = (time.isoformat(timespec="seconds") for time in (record.last, record.first))
            table.add_row(*map(escape, (str(key), *times, by)), *(str(record.extra.get(name, "")) for name in _COUNTS))
        Console().print(table)
    except PartitionError as error:
        sys.exit(str(error))


def _selection(definition: PartitionDefinition, start: str | None, until: str | None) -> Selection:
    time = definition.time
    if time is None:
        if start is not None or until is not None:
            raise InvalidDefinitionError(f"--from and --until choose intervals; {definition!r} has no time dimension")
        return Selection(definition, (Box(None),))
    low = FIRST if start is None else time.moment(start, "--from")
    high = LAST if until is None else time.moment(until, "--until")
    return Selection(definition, (Box(time.overlapping(low, high)),))


def _form(key: Key, record: LedgerRecord) -> dict[str, Any]:
    return {
        "key": str(key),
        "first": record.first.isoformat(),
        "last": record.last.isoformat(),
        "dag_id": record.dag_id,
        "run_id": record.run_id,
        "extra": dict(record.extra),
    }
