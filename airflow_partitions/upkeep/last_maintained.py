"""When the table of an asset was last kept small."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.versions import check_version, read_time

#: The name of its cell in the asset's state store.
MAINTENANCE = "maintenance"
_VERSION = 1


@attrs.frozen
class LastMaintained:
    """When the table of an asset was last kept small.

    :ivar begun: when that began.
    """

    begun: datetime

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"version": _VERSION, "begun": self.begun.isoformat()}

    @classmethod
    def from_json(cls, form: Any) -> LastMaintained:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "when a table was last kept small")
        return cls(read_time(form["begun"]))
