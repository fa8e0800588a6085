"""How a table is kept small."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import attrs

from airflow_partitions.core.calendars.duration import duration
from airflow_partitions.core.errors import InvalidDefinitionError


def _positive(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, timedelta) or value <= timedelta(0):
        raise InvalidDefinitionError(f"{field.name}={value!r}; expected a time above zero, such as timedelta(days=7)")


@attrs.frozen(kw_only=True)
class Maintenance:
    """How a table is kept small: by :func:`maintain_table`, and once a day by upkeep.

    :param keep_snapshots: how long snapshots are kept that no tag and no branch names; longer than any job takes, since
        who began before the last one that was forgotten has to begin again.
    :param keep_files: how long files that no snapshot names are left alone; longer than any job takes.
    :param compact: whether the small files of each partition are merged, too: see :func:`compact`.
    :raises InvalidDefinitionError: if a time is not above zero.
    """

    keep_snapshots: timedelta = attrs.field(default=timedelta(days=7), converter=duration, validator=_positive)
    keep_files: timedelta = attrs.field(default=timedelta(days=7), converter=duration, validator=_positive)
    compact: bool = False

    def to_json(self) -> dict[str, Any]:
        """JSON form, times in seconds."""
        times = {name: getattr(self, name).total_seconds() for name in ("keep_snapshots", "keep_files")}
        return {**times, "compact": self.compact}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Maintenance:
        """The inverse of :meth:`to_json`."""
        times = {name: timedelta(seconds=form[name]) for name in ("keep_snapshots", "keep_files")}
        return cls(**times, compact=form["compact"])
