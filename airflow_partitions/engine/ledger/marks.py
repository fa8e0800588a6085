"""What a person, rather than a run, has said of a partition; it lies in the extra of the event or the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

_MARKED = "marked"
_ADOPTED = "adopted"


@attrs.frozen
class Mark:
    """The mark of an event that a person has sent instead of a run.

    :ivar by: who it was.
    :ivar reason: why; empty if nothing was said.
    :ivar quiet: whether nothing downstream was to run for it.
    """

    by: str
    reason: str = ""
    quiet: bool = False

    def to_extra(self) -> dict[str, Any]:
        """The extra of the event, read back by :meth:`of`."""
        return {_MARKED: attrs.asdict(self)}

    @classmethod
    def of(cls, extra: Any) -> Mark | None:
        """The mark in the *extra* of an event or a record, which anybody may have written; ``None`` without one."""
        form = extra.get(_MARKED) if isinstance(extra, Mapping) else None
        if not isinstance(form, Mapping):
            return None
        return cls(str(form.get("by", "")), str(form.get("reason", "")), form.get("quiet") is True)


@attrs.frozen
class Adoption:
    """The mark of a record that was taken over: no event explains it.

    :ivar by: who took it over.
    :ivar source: ``"storage"``, or the name of the asset whose ledger had it.
    """

    by: str
    source: str

    def to_extra(self) -> dict[str, Any]:
        """What is added to the extra of the record, read back by :meth:`of`."""
        return {_ADOPTED: attrs.asdict(self)}

    @classmethod
    def of(cls, extra: Any) -> Adoption | None:
        """The mark in the *extra* of a record; ``None`` without one."""
        form = extra.get(_ADOPTED) if isinstance(extra, Mapping) else None
        return cls(str(form.get("by", "")), str(form.get("source", ""))) if isinstance(form, Mapping) else None
