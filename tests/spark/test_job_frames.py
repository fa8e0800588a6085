"""Frames of other kinds that a function on the driver takes and gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pytest

from airflow_partitions.frames.frame import Frame
from airflow_partitions.spark.handover import Handover
from tests.spark.in_process import good, make

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.warm]


def in_pandas(partition: Any, flights: Any) -> Any:
    here = flights[flights.origin == partition["airport"]]
    return here.groupby("origin", as_index=False).agg(most=("delay", "max"))


def in_arrow(partition: Any, flights: Any) -> Any:
    from pyarrow import compute

    here = flights.filter(compute.field("origin") == partition["airport"])
    return here.group_by("origin").aggregate([("delay", "max")]).rename_columns(["origin", "most"])


def lazily(partition: Any, flights: Any) -> Any:
    import polars as pl

    here = flights.filter(pl.col("origin") == partition["airport"])
    return here.group_by("origin").agg(most=pl.max("delay"))


def in_polars(partition: Any, flights: Any) -> Any:
    import polars as pl

    assert flights.columns == ["origin", "delay"]
    here = flights.filter(pl.col("origin") == partition["airport"])
    return here.group_by("origin").agg(most=pl.max("delay"))


FUNCTIONS: dict[str, Any] = {
    "spark": good, "pandas": in_pandas, "arrow": in_arrow, "polars": in_polars, "polars.LazyFrame": lazily
}  # fmt: skip


@pytest.mark.parametrize("kind", ["polars", "polars.LazyFrame", "pandas", "arrow", "spark"])
def test_f1_a_function_on_the_driver_takes_and_gives_other_frames(spark: SparkSession, lake: Any, kind: str) -> None:
    handover = lake.handover(strict=True)
    flights = attrs.evolve(handover.inputs["flights"], frame=Frame(kind, {"origin": "string", "delay": None}))
    handover = attrs.evolve(handover, inputs={"flights": flights})
    handover = Handover.from_text(handover.to_text())  # as it reaches the driver
    result = make(spark, lake, FUNCTIONS[kind], attrs.evolve(handover, output=lake.delays))
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    reads = result.reads["flights"]
    assert (reads.partitions, reads.files, reads.rows) == (24, 24, 48)
    assert not result.others
