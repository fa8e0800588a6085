"""Index of a column: which files of a partition have which values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

import attrs

from airflow_partitions.storage.metadata.arrow_types import arrow_type, fits


def _files(files: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {value: tuple(names) for value, names in files.items()}


@attrs.frozen
class ColumnIndex:
    """Which files of a partition have a value. It speaks of all its files, or there is none.

    :ivar kind: Spark type of the values.
    :ivar files: value, as text, to the names of the files that have it. Files with nulls alone are in no list.
    """

    kind: str
    files: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, converter=_files)

    def renamed(self, names: Mapping[str, str]) -> ColumnIndex:
        """This index where files have the new ones of *names*, and there are no others."""
        files = {value: dict.fromkeys(names[n] for n in old if n in names) for value, old in self.files.items()}
        return ColumnIndex(self.kind, {value: tuple(new) for value, new in files.items() if new})

    def joined(self, other: ColumnIndex) -> ColumnIndex | None:
        """The index of the files of both; ``None`` if neither type holds the values of the other."""
        if is_read_as(other.kind, self.kind):
            kind = self.kind
        elif is_read_as(self.kind, other.kind):
            kind = other.kind
        else:
            return None
        values = {**self.files, **other.files}
        return ColumnIndex(kind, {v: (*self.files.get(v, ()), *other.files.get(v, ())) for v in values})


#: Column to its index.
Index: TypeAlias = Mapping[str, ColumnIndex]


def to_index(form: Mapping[str, Any]) -> Index:
    """The index whose JSON form is *form*, which may be one already."""
    return {column: one if isinstance(one, ColumnIndex) else ColumnIndex(**one) for column, one in form.items()}


def renamed(index: Index, names: Mapping[str, str]) -> Index:
    """*index* where files have the new ones of *names*, and there are no others."""
    return {column: one.renamed(names) for column, one in index.items()}


def joined(index: Index, other: Index, kept: Collection[str]) -> Index:
    """The index of the files *kept* of one and of those of the *other*: of the columns that both have."""
    if not kept:
        return other
    old = renamed({column: one for column, one in index.items() if column in other}, {name: name for name in kept})
    both = {column: one.joined(other[column]) for column, one in old.items()}
    return {column: one for column, one in both.items() if one is not None}


def is_read_as(kind: str, other: str) -> bool:
    """Whether values that are stored as *kind* are read as the Spark type *other* and stay the same.

    :raises SchemaError: if one of them is unknown to Arrow.
    """
    return kind == other or fits(arrow_type(kind), arrow_type(other))
