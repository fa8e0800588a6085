"""Names of Spark's column types, as a schema has them, and which of them have an index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from airflow_partitions.core.errors import InvalidDefinitionError

_TYPES = frozenset(
    {
        "array", "bigint", "binary", "boolean", "byte", "char", "date", "dec", "decimal", "double", "float",
        "geography", "geometry", "int", "integer", "interval", "long", "map", "numeric", "real", "short", "smallint",
        "string", "struct", "time", "timestamp", "timestamp_ltz", "timestamp_ntz", "tinyint", "varchar",
        "variant", "void",
    }
)  # fmt: skip

#: Values of these can't be compared.
_NOT_INDEXED = frozenset(
    {"array", "binary", "geography", "geometry", "interval", "map", "struct", "time", "variant", "void"}
)


def check_type(column: str, kind: str) -> None:
    """Refuse a type whose name Spark does not know; what a nested type holds is read where it is used.

    :raises InvalidDefinitionError: the nearest names are in the message.
    """
    name = _name(kind)
    if name not in _TYPES:
        nearest = get_close_matches(name, _TYPES) or ["string", "bigint", "double", "timestamp"]
        raise InvalidDefinitionError(
            f"schema: column {column!r} has type {kind!r}; expected a type of Spark, such as {', '.join(nearest)}"
        )


def check_index(columns: Iterable[str], schema: Mapping[str, str], path: str) -> None:
    """Refuse an index of *columns* that are not in the *schema* of the dataset at *path*, or can't be compared.

    :param schema: column to Spark type.
    :raises InvalidDefinitionError: the nearest columns are in the message.
    """
    indexed = [column for column, kind in schema.items() if _name(kind) not in _NOT_INDEXED]
    for column in columns:
        near = get_close_matches(column, indexed, cutoff=0.4) or indexed
        nearest = ", ".join(near) or "(there is none)"
        hint = f"expected a column of numbers, text, bools, dates or times; nearest: {nearest}"
        if column not in schema:
            raise InvalidDefinitionError(f"storage {path!r}: index={column!r} is no column of it; {hint}")
        if column not in indexed:
            raise InvalidDefinitionError(
                f"storage {path!r}: index={column!r} is of type {schema[column]}, whose values have no order; {hint}"
            )


def _name(kind: str) -> str:
    word = re.match(r"\s*(\w*)", kind)
    return word[1].lower() if word else ""
