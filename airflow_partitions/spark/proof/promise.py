"""What a job was told that it may read."""

from __future__ import annotations

from typing import Any

import attrs

VERSION = 1


@attrs.frozen(kw_only=True)
class Promise:
    """What a job may read.

    :ivar attempt: name of the try.
    :ivar places: folders and files of its inputs, as Spark calls them.
    :ivar own: folders that it writes to, and may read again.
    :ivar strict: whether it may read nothing else.
    """

    attempt: str = ""
    places: frozenset[str] = frozenset()
    own: tuple[str, ...] = ()
    strict: bool = False

    def to_json(self) -> dict[str, Any]:
        """JSON form, for the listener of a Spark Connect server."""
        return {
            "version": VERSION,
            "strict": self.strict,
            "attempt": self.attempt,
            "places": sorted(self.places),
            "own": list(self.own),
        }
