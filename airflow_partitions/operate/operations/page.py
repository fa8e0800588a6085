"""Pages of long answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from airflow_partitions.core.errors import SelectionError

T = TypeVar("T")

#: The most entries of a page.
MOST = 1_000
#: Entries of a page where nobody says how many.
USUAL = 100


def page(field: str, entries: Iterable[T], limit: int, form: Callable[[T], dict[str, Any]]) -> dict[str, Any]:
    """The JSON form of the first *limit* of some *entries*, in *field*.

    The cursor is the ``name``, ``key`` or ``id`` of the last entry, after which the next page begins.

    :raises SelectionError: if *limit* is not from 1 to :data:`MOST`.
    """
    if not 1 <= limit <= MOST:
        raise SelectionError(f"limit={limit}; expected a number of entries from 1 to {MOST:,}")
    some = list(islice(entries, limit + 1))
    forms = [form(entry) for entry in some[:limit]]
    last = forms[-1] if len(some) > limit else {}
    after = last.get("name", last.get("key", last.get("id")))
    return {field: forms, "cursor": None if after is None else str(after)}
