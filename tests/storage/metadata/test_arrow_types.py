"""Types of Spark in Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from airflow_partitions.core.errors import (
    SchemaError,
)
from airflow_partitions.storage.metadata.arrow_types import arrow_type, fits, spark_name


@pytest.mark.parametrize(
    ("kind", "alias"),
    [
        ("int", pa.int32()),
        ("array<map<string, double>>", pa.list_(pa.map_(pa.string(), pa.float64()))),
        ("struct<a: int, `b c`: decimal(4,2)>", pa.struct([("a", pa.int32()), ("b c", pa.decimal128(4, 2))])),
        ("varchar(10)", pa.string()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("DECIMAL", pa.decimal128(10, 0)),
    ],
)
def test_types_of_spark_in_arrow(kind: str, alias: Any) -> None:
    assert arrow_type(kind) == alias
    assert fits(alias, alias)


def test_unknown_types_are_refused() -> None:
    with pytest.raises(SchemaError, match="type 'variant' has no counterpart"):
        arrow_type("variant")


def test_names_of_types_round_trip() -> None:
    plain = ["tinyint", "smallint", "int", "bigint", "float", "double", "string", "boolean", "date", "timestamp"]
    assert [spark_name(arrow_type(kind)) for kind in plain] == plain
    assert spark_name(pa.decimal128(5, 2)) == "decimal(5,2)"
    assert spark_name(pa.list_(pa.int32())) is None
