"""Files of a partition by bucket, kept like an index: ``bucket(4, b)`` is the column, the bucket's number its value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from airflow_partitions.storage.metadata.column_index import ColumnIndex, Index

_COLUMN = re.compile(r"bucket\(\d+, .+\)")
#: Spark's names of files begin with the number of their task.
_FILE = re.compile(r"part-(\d+)-")


def bucket_index(files: Iterable[str], by: Sequence[str], count: int) -> Index:
    """The index of *files* that Spark wrote with one task for each of *count* buckets.

    :param by: the columns that decide.
    """
    buckets: dict[str, list[str]] = {}
    for name in sorted(files):
        if match := _FILE.match(name):
            buckets.setdefault(str(int(match[1])), []).append(name)
    return {f"bucket({count}, {', '.join(by)})": ColumnIndex("int", buckets)}


def buckets_of(index: Index) -> Index:
    """The part of *index* that tells buckets."""
    return {column: one for column, one in index.items() if _COLUMN.fullmatch(column)}


def by_bucket(files: Mapping[str, int], index: Index) -> list[Mapping[str, int]]:
    """*files*, by name to size, in the parts that belong together; one part if there are no buckets."""
    parts: list[Collection[str]] = [names for one in buckets_of(index).values() for names in one.files.values()]
    bucketed = {name for names in parts for name in names}
    rest = [name for name in files if name not in bucketed]
    return [{name: files[name] for name in files if name in part} for part in (*map(set, parts), set(rest))]
