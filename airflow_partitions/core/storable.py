"""Which values can be kept: those that both PostgreSQL and JSON can hold."""

from __future__ import annotations

from math import isfinite
from typing import Any


def check_storable(value: Any) -> None:
    """Check a *value* of JSON, and all within it.

    :raises ValueError: for half of a surrogate pair or NUL in a text or name, for NaN and for infinite numbers.
    """
    within = [value]  # no recursion: what is given may be nested as deep as JSON can be
    while within:
        each = within.pop()
        if isinstance(each, dict):
            within += [*each, *each.values()]
        elif isinstance(each, list | tuple):
            within += each
        elif isinstance(each, float) and not isfinite(each):
            raise ValueError(f"expected a number that JSON has, not {each}")
        elif isinstance(each, str) and (wrong := _unstorable(each)) is not None:
            raise ValueError(f"expected text that can be stored, without U+{ord(wrong):04X}")


def shown_text(text: str) -> str:
    """A *text* as it can be written anywhere: half of a surrogate pair as its escape."""
    return text.encode("utf-8", "backslashreplace").decode()


def _unstorable(text: str) -> str | None:
    """The first character of a *text* that can't be stored."""
    return next((letter for letter in text if letter == "\0" or "\ud800" <= letter <= "\udfff"), None)
