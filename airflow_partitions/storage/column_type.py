"""Names of Spark's column types, as a schema has them."""

from __future__ import annotations

import re
from difflib import get_close_matches

from airflow_partitions.errors import InvalidDefinitionError

_TYPES = frozenset(
    {
        "array", "bigint", "binary", "boolean", "byte", "char", "date", "dec", "decimal", "double", "float",
        "geography", "geometry", "int", "integer", "interval", "long", "map", "numeric", "real", "short", "smallint",
        "string", "struct", "time", "timestamp", "timestamp_ltz", "timestamp_ntz", "tinyint", "varchar",
        "variant", "void",
    }
)  # fmt: skip


def check_type(column: str, kind: str) -> None:
    """Refuse a type whose name Spark does not know; what a nested type holds is read where it is used.

    :raises InvalidDefinitionError: the nearest names are in the message.
    """
    word = re.match(r"\s*(\w*)", kind)
    name = word[1].lower() if word else ""
    if name not in _TYPES:
        nearest = get_close_matches(name, _TYPES) or ["string", "bigint", "double", "timestamp"]
        raise InvalidDefinitionError(
            f"schema: column {column!r} has type {kind!r}; expected a type of Spark, such as {', '.join(nearest)}"
        )
