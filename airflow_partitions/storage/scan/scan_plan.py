"""Plan of a scan: the stored partitions that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import FilterError, InvalidDefinitionError, MissingInputError
from airflow_partitions.core.keys import Interval, Key, ProductKey, Segment
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filters.filter import Filter
from airflow_partitions.storage.filters.pruning import Pruning, prune
from airflow_partitions.storage.scan.file_index import excludes
from airflow_partitions.storage.scan.snapshot import inventory, snapshot, stored
from airflow_partitions.storage.scan.stored_partition import StoredPartition

#: A filter, a selection, a key (wrapped, plain or its text) or several; ``None`` is everything.
Where: TypeAlias = "Filter | Selection | Key | str | Iterable[Any] | None"


@attrs.frozen
class ScanPlan:
    """What is to be read.

    :ivar partitions: those stored, in order.
    :ivar pruning: the filter, if one was given.
    """

    partitions: Iterator[StoredPartition]
    pruning: Pruning | None = None


def get(dataset: Dataset, key: Any) -> StoredPartition | None:
    """The partition *key* of *dataset*, ``None`` if it is not stored."""
    return next(stored(dataset, [dataset.layout.key(key)]), None)


def list_(dataset: Dataset, where: Where = None) -> Iterator[StoredPartition]:
    """The partitions of *dataset* that *where* asks for; keys that are not stored are left out."""
    if not isinstance(where, Filter):
        return inventory(dataset) if where is None else stored(dataset, _keys(dataset, where))
    pruning = _prune(dataset, where)
    if pruning.residual is not None:
        raise FilterError(
            f"{pruning.residual} is about rows; expected conditions on {', '.join(_fields(dataset))} alone to list"
            " partitions"
        )
    return _accepted(dataset, pruning)


def choose(dataset: Dataset, where: Where, *, full_scan: bool = False, at_once: bool = False) -> ScanPlan:
    """The partitions of *dataset* to be read for *where*.

    :param at_once: all of them as they are at one moment between two commits, not each as it is when it is looked at.
    :raises MissingInputError: if a key is not stored; each is looked for before the first is given.
    :raises FilterError: if a filter excludes no partition and speaks of no index, without *full_scan*.
    """
    if where is None:
        return ScanPlan(iter(snapshot(dataset).values()) if at_once else inventory(dataset))
    if isinstance(where, Filter):
        pruning = _prune(dataset, where)
        by_index = pruning.residual is not None and excludes(pruning.residual, dataset.index)
        if not (pruning.prunes or by_index or full_scan):
            fields = ", ".join([*_fields(dataset), *dataset.index])
            raise FilterError(
                f"no part of the filter {where} excludes a partition of {dataset.path!r}, so that all of it would be"
                f" read; add a condition on {fields}, or say full_scan=True"
            )
        return ScanPlan(_accepted(dataset, pruning, at_once=at_once), pruning)
    keys = list(_keys(dataset, where))
    return ScanPlan(iter(stored_or_fail(dataset, keys).values()))


def stored_or_fail(dataset: Dataset, keys: Sequence[Key]) -> Mapping[Key, StoredPartition]:
    """The partitions *keys* of *dataset*, as they are at one moment between two commits.

    :raises MissingInputError: if one is not stored.
    """
    partitions = snapshot(dataset, keys)
    directories = {key: dataset.layout.directory_of(key) for key in keys}
    if missing := [str(key) for key, directory in directories.items() if directory not in partitions]:
        shown = ", ".join(map(repr, missing[:5])) + (", …" if len(missing) > 5 else "")
        raise MissingInputError(
            f"{len(missing)} of {len(keys)} partitions are not stored in {dataset.path!r}: {shown}; expected them to be"
            " made first; get_many(…) of the storage tells which there are"
        )
    return {key: partitions[directory] for key, directory in directories.items()}


def _keys(dataset: Dataset, where: Any) -> Iterator[Key]:
    if isinstance(where, Selection):
        if where.definition != dataset.partition:
            raise InvalidDefinitionError(
                f"a selection of {where.definition!r} was given; {dataset.path!r} holds {dataset.partition!r}"
            )
        return iter(where)
    plain = isinstance(where, Mapping) and all(isinstance(name, str) for name in where)
    if plain or isinstance(where, str | Interval | Segment | ProductKey | tuple) or not isinstance(where, Iterable):
        return iter((dataset.layout.key(where),))
    return (dataset.layout.key(key) for key in where)


def _prune(dataset: Dataset, where: Filter) -> Pruning:
    return prune(where, dataset.layout, None if dataset.schema is None else dict(dataset.schema))


def _accepted(dataset: Dataset, pruning: Pruning, *, at_once: bool = False) -> Iterator[StoredPartition]:
    accepts: Callable[[Mapping[str, str]], bool] = pruning.accepts

    def is_accepted(name: str, text: str) -> bool:
        return accepts({name: text})

    partitions = iter(snapshot(dataset, accept=is_accepted).values()) if at_once else inventory(dataset, is_accepted)
    return partitions if len(dataset.layout.columns) == 1 else (each for each in partitions if accepts(each.values))


def _fields(dataset: Dataset) -> list[str]:
    return list(dict.fromkeys([*dataset.layout.definition.dimensions, *dataset.layout.columns]))
