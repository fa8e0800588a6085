"""Which stored partitions are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from airflow_partitions.dependencies import Selection
from airflow_partitions.errors import FilterError, InvalidDefinitionError, MissingInputError
from airflow_partitions.keys import Interval, Key, ProductKey, Segment
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.filters.filter import Filter
from airflow_partitions.storage.filters.pruning import Pruning, prune
from airflow_partitions.storage.scan.stored_partition import StoredPartition, inventory, snapshot, stored

#: A filter, a selection, a key (wrapped, plain or its text) or several; ``None`` is everything.
Where: TypeAlias = "Filter | Selection | Key | str | Iterable[Any] | None"


@attrs.frozen
class Plan:
    """What is to be read.

    :ivar partitions: those stored, in order.
    :ivar pruning: the filter, if one was given.
    """

    partitions: Iterator[StoredPartition]
    pruning: Pruning | None = None


def get(files: Files, key: Any) -> StoredPartition | None:
    """The partition *key* of *files*, ``None`` if it is not stored."""
    return stored(files, files.layout.key(key))


def list_(files: Files, where: Where = None) -> Iterator[StoredPartition]:
    """The partitions of *files* that *where* asks for; keys that are not stored are left out."""
    if not isinstance(where, Filter):
        return inventory(files) if where is None else _stored(files, _keys(files, where))
    pruning = _prune(files, where)
    if pruning.rows is not None:
        raise FilterError(
            f"{pruning.rows} is about rows; expected conditions on {', '.join(_fields(files))} alone to list partitions"
        )
    return _accepted(files, pruning)


def choose(files: Files, where: Where, *, full_scan: bool = False, at_once: bool = False) -> Plan:
    """The partitions of *files* to be read for *where*.

    :param at_once: all of them as they are at one moment between two commits, not each as it is when it is looked at.
    :raises MissingInputError: if a key is not stored; each is looked for before the first is given.
    :raises FilterError: if a filter excludes no partition, without *full_scan*.
    """
    if where is None:
        return Plan(iter(snapshot(files).values()) if at_once else inventory(files))
    if isinstance(where, Filter):
        pruning = _prune(files, where)
        if not pruning.prunes and not full_scan:
            raise unpruned(files, where)
        return Plan(_accepted(files, pruning, at_once=at_once), pruning)
    keys = list(_keys(files, where))
    return Plan(iter(stored_or_fail(files, keys).values()))


def unpruned(files: Files, where: Filter) -> FilterError:
    """What to say when a filter excludes nothing."""
    return FilterError(
        f"no part of the filter {where} excludes a partition of {files.path!r}, so that all of it would be read; add a"
        f" condition on {', '.join(_fields(files))}, or say full_scan=True"
    )


def stored_or_fail(files: Files, keys: Sequence[Key]) -> Mapping[Key, StoredPartition]:
    """The partitions *keys* of *files*, as they are at one moment between two commits.

    :raises MissingInputError: if one is not stored.
    """
    found = snapshot(files, keys)
    directories = {key: files.layout.directory_of(key) for key in keys}
    if missing := [str(key) for key, directory in directories.items() if directory not in found]:
        shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
        raise MissingInputError(
            f"{len(missing)} of {len(keys)} partitions are not stored in {files.path!r}: {shown}; expected them to be"
            " made first, or only those of get_many(…) to be asked for"
        )
    return {key: found[directory] for key, directory in directories.items()}


def _keys(files: Files, where: Any) -> Iterator[Key]:
    if isinstance(where, Selection):
        if where.definition != files.partition:
            raise InvalidDefinitionError(
                f"a selection of {where.definition!r} was given; {files.path!r} holds {files.partition!r}"
            )
        return iter(where)
    plain = isinstance(where, Mapping) and all(isinstance(name, str) for name in where)
    if plain or isinstance(where, str | Interval | Segment | ProductKey | tuple) or not isinstance(where, Iterable):
        return iter((files.layout.key(where),))
    return (files.layout.key(key) for key in where)


def _stored(files: Files, keys: Iterable[Key]) -> Iterator[StoredPartition]:
    return (partition for key in keys if (partition := stored(files, key)) is not None)


def _prune(files: Files, where: Filter) -> Pruning:
    return prune(where, files.layout, None if files.schema is None else dict(files.schema))


def _accepted(files: Files, pruning: Pruning, *, at_once: bool = False) -> Iterator[StoredPartition]:
    accepts: Callable[[Mapping[str, str]], bool] = pruning.accepts

    def wanted(name: str, text: str) -> bool:
        return accepts({name: text})

    found = iter(snapshot(files, accept=wanted).values()) if at_once else inventory(files, wanted)
    return found if len(files.layout.columns) == 1 else (each for each in found if accepts(each.values))


def _fields(files: Files) -> list[str]:
    return list(dict.fromkeys([*files.layout.definition.dimensions, *files.layout.columns]))
