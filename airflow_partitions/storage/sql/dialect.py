"""Dialects of SQL: how each engine writes names of columns, and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.storage.sql.text import sql_name, sql_text

#: Names that Snowflake knows in capitals if nobody quotes them, as those of its tables mostly are.
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


@attrs.frozen
class Dialect:
    """How an engine writes names and values.

    :ivar name: writes the name of a column.
    :ivar text: writes a text.
    :ivar instant: the literal of an instant, around its writing in UTC.
    :ivar offset: how UTC is told in it.
    :ivar wall_time: the literal of a time without a zone, around its writing.
    """

    name: Callable[[str], str]
    text: Callable[[str], str]
    instant: str
    wall_time: str
    offset: str = "+00:00"

    def value(self, value: Any) -> str:
        """The literal of *value*: text, a number, a bool, a date or a time."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, datetime):
            shown = value.replace(tzinfo=None).isoformat(sep=" ")
            return self.wall_time.format(shown) if value.tzinfo is None else self.instant.format(shown + self.offset)
        return f"DATE '{value.isoformat()}'" if isinstance(value, date) else str(value)


def _backquoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _bigquery_name(name: str) -> str:
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _snowflake_name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else sql_name(name)


def _escaped(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


_TIMESTAMP = "TIMESTAMP '{}'"

#: The dialects there are.
DIALECTS: Mapping[str, Dialect] = {
    "ansi": Dialect(sql_name, sql_text, _TIMESTAMP, _TIMESTAMP),
    "spark": Dialect(_backquoted, _escaped, _TIMESTAMP, "TIMESTAMP_NTZ '{}'"),
    "duckdb": Dialect(sql_name, sql_text, "TIMESTAMPTZ '{}'", _TIMESTAMP),
    "trino": Dialect(sql_name, sql_text, _TIMESTAMP, _TIMESTAMP, " UTC"),
    "bigquery": Dialect(_bigquery_name, _escaped, _TIMESTAMP, "DATETIME '{}'"),
    "snowflake": Dialect(_snowflake_name, _escaped, "'{}'::TIMESTAMP_TZ", "'{}'::TIMESTAMP_NTZ", " +00:00"),
}


def dialect_of(name: str) -> Dialect:
    """The dialect called *name*.

    :raises InvalidDefinitionError: if there is none; with the nearest.
    """
    dialect = DIALECTS.get(name)
    if dialect is None:
        nearest = nearest_texts(str(name), DIALECTS)
        raise InvalidDefinitionError(
            f"SQL dialect {name!r} is not known; nearest: {nearest[0]}; expected one of: {', '.join(DIALECTS)}"
        )
    return dialect
