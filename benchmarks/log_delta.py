"""Delta's side of :mod:`benchmarks.log`; runs in an environment where delta-rs is."""

from __future__ import annotations

import json
import time

from deltalake import DeltaTable, Field, Schema  # type: ignore[import-not-found]
from deltalake.schema import PrimitiveType  # type: ignore[import-not-found]
from deltalake.transaction import AddAction, create_table_with_add_actions  # type: ignore[import-not-found]

from benchmarks.log_side import answer, batches, chosen

SCHEMA = Schema([Field("hour", PrimitiveType("string")), Field("n", PrimitiveType("long"))])


def added(hours: list[str]) -> list[AddAction]:
    stats, now = json.dumps({"numRecords": 1000}), int(time.time() * 1000)
    return [
        AddAction(f"hour={hour}/{now}.parquet", 12345, {"hour": hour}, now, data_change=True, stats=stats)
        for hour in hours
    ]


def replace(table: DeltaTable, hour: str) -> None:
    where = [("hour", "=", hour)]
    table.create_write_transaction(added([hour]), "overwrite", SCHEMA, ["hour"], partition_filters=where)


def make(path: str, size: int) -> int:
    for hours in batches(size):
        if not DeltaTable.is_deltatable(path):
            create_table_with_add_actions(path, SCHEMA, added(hours), partition_by=["hour"])
        elif len(hours) == 1:
            replace(DeltaTable(path), hours[0])
        else:
            DeltaTable(path).create_write_transaction(added(hours), "append", SCHEMA, ["hour"])
        if len(hours) > 1:
            DeltaTable(path).create_checkpoint()
    return size


def get(path: str, hours: list[str]) -> int:
    return len(DeltaTable(path).file_uris(file_pruning_predicate=[("hour", "in", hours)]))


def get_all(path: str, size: int) -> int:
    rows: int = DeltaTable(path).get_add_actions(flatten=True).num_rows
    assert rows == size
    return rows


def replace_one(path: str, size: int) -> int:
    replace(DeltaTable(path), chosen(size, 1)[0])
    return 1


if __name__ == "__main__":
    answer(
        {
            "make": make,
            "one": lambda path, size: get(path, chosen(size, 1)),
            "hundred": lambda path, size: get(path, chosen(size, 100)),
            "all": get_all,
            "replace": replace_one,
        }
    )
