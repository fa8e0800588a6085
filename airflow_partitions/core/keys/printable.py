"""Which texts of keys can be shown as they are."""

from __future__ import annotations

from itertools import pairwise
from unicodedata import category

#: Joins two signs into one, such as a woman and a rocket into an astronaut; elsewhere nobody sees it.
_JOINER = "\u200d"
#: Categories of Unicode: signs, what modifies them and letters of scripts without capitals, as they may be joined.
_BEFORE, _AFTER = {"So", "Sk", "Mn", "Mc"}, {"So", "Lo"}


def is_printable(text: str) -> bool:
    """Whether a *text* can be shown as it is: no character of it is unseen, but those that join two signs."""
    if text.isprintable():
        return True
    parts = text.split(_JOINER)
    if not all(part and part.isprintable() for part in parts):
        return False
    return all(category(one[-1]) in _BEFORE and category(other[0]) in _AFTER for one, other in pairwise(parts))
