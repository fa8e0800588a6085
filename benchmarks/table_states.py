"""Tables of Iceberg with a file for each of many days, in states that tables get into."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.keys import Key
from airflow_partitions.storage import Attempt, Iceberg
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
from airflow_partitions.storage.iceberg.table.live_files import live_files
from airflow_partitions.storage.iceberg.table.maintenance import rewrite_manifests
from airflow_partitions.storage.iceberg.table.new_snapshot import new_snapshot, same_files
from airflow_partitions.storage.iceberg.table.new_table import make_table
from airflow_partitions.storage.iceberg.table.open import open_table, reference_to
from airflow_partitions.storage.iceberg.table.paths import plain
from airflow_partitions.storage.iceberg.table.shadow import Shadow
from airflow_partitions.storage.iceberg.table.snapshots import Published, summary_of
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata

DAYS = PartitionByInterval("@daily", start="1990-01-01", name="date")
SCHEMA = {"departed_at": "timestamp", "origin": "string", "delay": "double"}
#: Rows of a day.
ROWS = 100
#: After upkeep; and with a snapshot and a manifest for each publish there ever was.
REWRITTEN, NATURAL = "manifests rewritten", "one manifest per publish"
STATES = (REWRITTEN, NATURAL)
_BATCH = 250


@attrs.frozen
class Lake:
    """A SQL catalog, in which a table of *size* days is put into a state again and again.

    :ivar folder: of the catalog and of all files.
    :ivar size: how many days there are.
    """

    folder: Path
    size: int

    @property
    def catalog(self) -> dict[str, str]:
        uri = f"sqlite:///{self.folder}/catalog.db?timeout=60"
        return {"type": "sql", "uri": uri, "warehouse": str(self.folder / "warehouse")}

    @property
    def delays(self) -> Iceberg:
        on = {"date": "departed_at"}
        return Iceberg(
            "flights.delays",
            catalog=f"lake_{self.size}",
            credentials=self.catalog,
            partition=DAYS,
            partition_on=on,
            schema=SCHEMA,
        )

    def key(self, number: int) -> Key:
        """One of the days, spread over all of them."""
        return self.keys[number * 7919 % self.size]

    @property
    def keys(self) -> list[Key]:
        return list(islice(DAYS.keys("1990-01-01", "2030-01-01"), self.size))

    def rows(self, keys: list[Key]) -> pa.Table:
        moments = [
            datetime.fromtimestamp(0, UTC) + timedelta(microseconds=key.time_range[0], minutes=14 * row)
            for key in keys
            for row in range(ROWS)
        ]
        count = len(moments)
        origins, delays = ["EWR", "JFK", "LGA", "BOS"] * (count // 4), [float(i % 50) for i in range(count)]
        moment = pa.array(moments, pa.timestamp("us", tz="UTC"))
        return pa.table({"departed_at": moment, "origin": origins, "delay": delays})

    def put(self, state: str) -> None:
        """Let the table be in *state*, whatever was done to it."""
        catalog = reference_to(self.delays).open()
        metadata = json.loads((self.folder / "states.json").read_text(encoding="utf-8"))[state]
        catalog.create_namespace_if_not_exists("flights")
        if catalog.table_exists("flights.delays"):
            catalog.drop_table("flights.delays")
        catalog.register_table("flights.delays", metadata)

    def make(self) -> None:
        """Make the table in all its states, if that is not done."""
        if (self.folder / "states.json").exists():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        reference = reference_to(self.delays)
        make_table(reference, SCHEMA, self.delays.layout, self.delays.columns)
        for number in range(0, self.size, _BATCH):
            table = reference.load()
            shadow = Shadow.make(table, self.folder / f"shadows/{number}", f"batch-{number}")
            shadow.append(self.rows(self.keys[number : number + _BATCH]))
            live = live_files(table.metadata, table.io, table.current_snapshot())
            new_snapshot(table, live, added=shadow.files(), removed=[], properties={}).commit()
        rewrite_manifests(reference)
        states = {REWRITTEN: reference.load().metadata_location}
        table = reference.load()
        live = live_files(table.metadata, table.io, table.current_snapshot())
        same_files(table, live, [(entry.data_file.spec_id, [entry]) for entry in live.entries]).commit()
        states[NATURAL] = self._with_snapshots()
        (self.folder / "states.json").write_text(json.dumps(states), encoding="utf-8")

    def _with_snapshots(self) -> str:
        """Path of metadata with a snapshot for each day: none has expired."""
        table = open_table(self.delays)
        form: dict[str, Any] = json.loads(table.metadata.model_dump_json())
        (head,) = [each for each in form["snapshots"] if each["snapshot-id"] == form["current-snapshot-id"]]
        snapshots = list(self._snapshots(head))
        log = [{"snapshot-id": each["snapshot-id"], "timestamp-ms": each["timestamp-ms"]} for each in snapshots]
        form |= {"snapshots": snapshots, "snapshot-log": log, "last-sequence-number": snapshots[-1]["sequence-number"]}
        form["metadata-log"] = []
        path = Path(plain(table.metadata_location)).with_name("99999-natural.metadata.json")
        path.write_text(json.dumps(form), encoding="utf-8")
        return f"file://{path}"

    def _snapshots(self, head: dict[str, Any]) -> Iterator[dict[str, Any]]:
        layout, first = self.delays.layout, head["sequence-number"]
        keys = KeyFilter.of(layout, self.delays.columns, open_table(self.delays).schema())
        parent: dict[str, Any] = {}
        for number, key in enumerate(self.keys, 1):
            attempt = Attempt("flights", f"scheduled__{key}", 1)
            metadata = PartitionMetadata(str(key), attempt, ROWS, 1, 2000, "2026-01-01T00:00:00", schema=SCHEMA)
            published = {layout.directory_of(key): Published(keys.sql(key), attrs.evolve(metadata, commit=number))}
            summary = {**head["summary"], "operation": "overwrite", **summary_of(attempt, published, [str(key)])}
            last = number == self.size
            parent = {
                **{name: value for name, value in head.items() if name != "parent-snapshot-id"},
                **({"parent-snapshot-id": parent["snapshot-id"]} if parent else {}),
                "snapshot-id": head["snapshot-id"] if last else number,
                "sequence-number": first + number,
                "timestamp-ms": head["timestamp-ms"] - (self.size - number),
                "summary": summary,
            }
            yield parent
