"""The nearest texts of keys, for messages."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice


def nearest_texts(text: str, texts: Collection[str]) -> tuple[str, ...]:
    """The *texts* that look most like *text*, in capitals or not; else the first ones."""
    from difflib import get_close_matches

    by_case = {each.casefold(): each for each in texts}
    alike = get_close_matches(text, texts, n=3)
    alike = alike or [by_case[each] for each in get_close_matches(text.casefold(), by_case, n=3)]
    return tuple(alike or islice(texts, 3))
