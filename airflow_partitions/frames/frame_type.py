"""What is said of the frames at one place: by who stores them, and by who reads them."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from airflow_partitions.storage.storage import Storage

#: Column to Spark type; ``None`` where any will do.
Columns = Mapping[str, str | None]


@attrs.frozen
class FrameType:
    """Columns and format of stored frames. Who says nothing of one takes and gives all.

    :ivar path: where they are stored.
    :ivar columns: the columns that are there, or that are read; empty for all there are.
    :ivar format: of the files; empty for any.
    """

    path: str
    columns: Columns = attrs.field(factory=dict)
    format: str = ""

    @classmethod
    def stored(cls, storage: Storage, produced: Columns | None = None) -> FrameType:
        """What is said of the frames in *storage*.

        :param produced: the columns that the function returns which makes them; by default those that *storage*
            declares.
        """
        columns: Columns = {}
        if storage.member is not None or not storage.members:
            columns = dict(produced or storage.schema or ())
        if columns and storage.partition is not None:
            columns = {**columns, **storage.key_columns}
        return cls(storage.place, columns, storage.format)

    def misfit(self, columns: Columns, form: str) -> Misfit | None:
        """Why what is stored so can't be read as *columns* of files of a format; ``None`` if it can.

        The columns that are read are among those that are there, with the same types, and the formats are the same.

        :param form: the format that is read; empty for any.
        """
        if form and self.format and form != self.format:
            return Misfit(
                f"its format is {form!r}, and that of {self.path!r} is {self.format!r}",
                "expected the same",
            )
        for name, kind in columns.items() if self.columns else ():
            if name not in self.columns:
                nearest = get_close_matches(name, self.columns, n=1)
                return Misfit(
                    f"there is no column {name!r} in {self.path!r}",
                    f"did you mean {nearest[0]!r}?" if nearest else f"expected some of {', '.join(self.columns)}",
                )
            there = self.columns[name]
            if kind is not None and there is not None and kind.lower() != there.lower():
                return Misfit(f"column {name!r} is {there} in {self.path!r}", f"expected that, and not {kind}")
        return None

    def to_json(self) -> dict[str, Any]:
        """JSON form, read by :meth:`from_json`."""
        return {"path": self.path, "columns": dict(self.columns), "format": self.format}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> FrameType:
        """The inverse of :meth:`to_json`."""
        return cls(form["path"], form["columns"], form["format"])


@attrs.frozen
class Misfit:
    """Why a frame can't be read as what its reader says.

    :ivar reason: what does not fit.
    :ivar remedy: what would.
    """

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.remedy}"
