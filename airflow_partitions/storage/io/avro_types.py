"""Types of Avro, for those of Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow_partitions.storage.metadata.arrow_types import arrow_type as arrow_type_of
from airflow_partitions.storage.metadata.arrow_types import spark_type

if TYPE_CHECKING:
    import pyarrow as pa

#: Spark type to Avro type, with its logical type.
_TYPES = {
    "int": "int", "bigint": "long", "float": "float", "double": "double",
    "string": "string", "binary": "bytes", "boolean": "boolean", "date": ("int", "date"),
    "timestamp": ("long", "timestamp-micros"), "timestamp_ntz": ("long", "local-timestamp-micros"),
}  # fmt: skip
_NARROW = {"tinyint": "int", "smallint": "int"}
_SPARK = {kind: name for name, kind in _TYPES.items()}


def avro_type(field: pa.Field) -> Any:
    """The type of a *field* in a schema of Avro.

    :raises TypeError: if there is none here.
    """
    import pyarrow as pa

    if pa.types.is_decimal(field.type):
        return {
            "type": "bytes",
            "logicalType": "decimal",
            "precision": field.type.precision,
            "scale": field.type.scale,
        }
    name = spark_type(field.type)
    kind = _TYPES.get(_NARROW.get(name, name))
    if kind is None:
        raise TypeError(f"column {field.name!r} is {field.type}; expected Spark to write it")
    return kind if isinstance(kind, str) else {"type": kind[0], "logicalType": kind[1]}


def arrow_type(field: Mapping[str, Any]) -> pa.DataType | None:
    """Arrow's type of a *field* in a schema of Avro, ``None`` if the values are to tell it."""
    import pyarrow as pa

    kind = field["type"]
    if isinstance(kind, list):  # a union with null
        kinds = [each for each in kind if each != "null"]
        if len(kinds) != 1:
            return None
        kind = kinds[0]
    if isinstance(kind, str):
        name = _SPARK.get(kind)
    elif kind.get("logicalType") == "decimal":
        return pa.decimal128(kind["precision"], kind.get("scale", 0))
    else:
        name = _SPARK.get((kind["type"], kind.get("logicalType")) if "logicalType" in kind else kind["type"])
    return None if name is None else arrow_type_of(name)
