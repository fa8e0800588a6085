"""Sessions that were promised some hours of a small lake, and what the listener says of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.connect.session import SparkSession

ATTEMPT = "run-1"


@attrs.define
class Watched:
    """A session of Spark Connect, and the table functions of its server."""

    spark: SparkSession
    root: Path

    def promise(self, *hours: int, strict: bool = True, **changes: Any) -> dict[str, Any]:
        """Promise some *hours* of the flights."""
        places = [self.hour(hour) for hour in hours]
        form = {"version": 1, "strict": strict, "attempt": ATTEMPT, "places": places, "own": [], **changes}
        return self._value("airflow_partitions_promise(:promise)", promise=json.dumps(form))

    @property
    def account(self) -> dict[str, Any]:
        return self._value("airflow_partitions_reads()")

    @property
    def scans(self) -> list[tuple[list[str], int, int]]:
        """Folders below the lake, files and rows of each scan of files."""
        account = self.account
        assert account["failure"] is None
        shown = [
            (sorted(str(Path(path).relative_to(self.root)) for path in scan["locations"]), scan["files"], scan["rows"])
            for scan in account["scans"]
        ]
        assert all(scan["bytes"] > 0 for scan in account["scans"])
        return sorted(shown)

    def hour(self, number: int) -> str:
        return str(self.root / "flights" / f"hour={number:02}")

    def read(self, *hours: int, attempt: str | None = ATTEMPT) -> DataFrame:
        """The frame of some hours, as an input of a job is read."""
        reader = self.spark.read.schema("origin string, delay double, hour string")
        reader = reader.option("basePath", str(self.root / "flights"))
        if attempt is not None:
            reader = reader.option("airflow_partitions.attempt", attempt)
        return reader.parquet(*map(self.hour, hours))

    def _value(self, function: str, **arguments: str) -> dict[str, Any]:
        rows = self.spark.sql(f"select value from {function}", args=arguments or None).collect()
        value: dict[str, Any] = json.loads(rows[0]["value"])
        return value


@pytest.fixture
def hours(tmp_path: Path) -> Path:
    """Four hours of flights, two rows in each; and one hour of weather, one row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, number, origins in (*(("flights", n, ["EWR", "JFK"]) for n in range(4)), ("weather", 1, ["EWR"])):
        folder = tmp_path / name / f"hour={number:02}"
        folder.mkdir(parents=True)
        table = pa.table({"origin": origins, "delay": [1.0 * number] * len(origins)})
        pq.write_table(table, folder / "0.parquet")
    return tmp_path


@pytest.fixture
def watched(connect_sessions: Callable[[], Any], hours: Path) -> Callable[[], Watched]:
    """Makes sessions."""
    return lambda: Watched(connect_sessions(), hours)
