"""The files that the rows of a partition become."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError


@attrs.frozen(kw_only=True)
class Shape:
    """What files the rows of a partition become.

    :ivar shuffle: bring the rows of a partition together, so that each has one file; else there may be as many as the
        frame has parts.
    :ivar bucket_by: columns whose values decide which of *buckets* files a row goes to; this shuffles too.
    :ivar buckets: how many.
    :ivar sort_by: columns to sort the rows of a file by.
    :ivar target_file_size: bytes after which another file is begun, roughly. The size of a row is that of the rows
        stored already, else of a sample.
    """

    shuffle: bool = True
    bucket_by: Sequence[str] = ()
    buckets: int = 0
    sort_by: Sequence[str] = ()
    target_file_size: int | None = None

    def __attrs_post_init__(self) -> None:
        if bool(self.bucket_by) != (self.buckets > 0):
            raise InvalidDefinitionError(
                f"bucket_by={list(self.bucket_by)!r} and buckets={self.buckets!r}; expected both or none of them"
            )
