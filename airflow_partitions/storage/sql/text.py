"""Names and texts of SQL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def sql_name(name: Any) -> str:
    """The *name* of a column or table, for DuckDB and Trino."""
    return '"' + str(name).replace('"', '""') + '"'


def sql_text(text: str) -> str:
    """The *text*, for DuckDB and Trino."""
    return "'" + text.replace("'", "''") + "'"


def listed(items: Iterable[str]) -> str:
    """*items* in parentheses, a line each."""
    return f"({indented(items)}\n)"


def indented(items: Iterable[str]) -> str:
    """*items*, a line each."""
    return ",".join(f"\n  {item}" for item in items)
