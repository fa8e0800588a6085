"""A dataset whose files are to be read or written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import at

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


@attrs.frozen(kw_only=True)
class Request:
    """What reading and writing have in common.

    :ivar dataset: the dataset: its path, format, options, declared schema.
    """

    dataset: Dataset

    @property
    def credentials(self) -> dict[str, Any]:
        """What files may be opened with: the dataset's, unless its options say otherwise."""
        options = dict(self.dataset.options)
        return dict(options["credentials"] or {}) if "credentials" in options else dict(self.dataset.credentials)

    @property
    def options(self) -> dict[str, Any]:
        """Options of the format."""
        return {name: value for name, value in self.dataset.options if name != "credentials"}

    @property
    def root(self) -> Location:
        """The dataset's folder."""
        return at(self.dataset.path, self.credentials)
