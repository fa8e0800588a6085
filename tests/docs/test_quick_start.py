"""The quick start does what it says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from airflow_partitions.authoring.local import try_partition
from tests.docs.pages import blocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_day_of_the_quick_start_is_made(tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = [block for block in blocks("python") if block.page == "README.md" and block.file]
    (tmp_path / "quick_start.py").write_text(block.text.replace("/tmp/", f"{tmp_path}/"))
    monkeypatch.syspath_prepend(tmp_path)
    import quick_start  # type: ignore[import-not-found]

    orders = spark.createDataFrame(try_partition(quick_start.shop_orders, "2024-01-02").value)
    trial = try_partition(quick_start.shop_totals, "2024-01-02", inputs={"shop_orders": orders}, spark=spark)
    assert {row["shop"]: row["sum(amount)"] for row in trial.value.collect()} == {"north": 40, "south": 20}
