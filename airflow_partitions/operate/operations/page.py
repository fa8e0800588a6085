"""Pages of long answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")


def page(field: str, entries: Iterable[T], limit: int, form: Callable[[T], dict[str, Any]]) -> dict[str, Any]:
    """The JSON form of the first *limit* of some *entries*, in *field*.

    The cursor is the ``name``, ``key``, ``id`` or ``asset`` of the last entry, after which the next page begins.
    """
    some = list(islice(entries, limit + 1))
    forms = [form(entry) for entry in some[:limit]]
    last = forms[-1] if len(some) > limit else {}
    after = next((last[name] for name in ("name", "key", "id", "asset") if name in last), None)
    return {field: forms, "cursor": None if after is None else str(after)}
