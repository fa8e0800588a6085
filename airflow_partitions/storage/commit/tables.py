"""Several datasets that are partitioned alike, changed together: the tables of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from airflow_partitions.errors import InvalidDefinitionError, ResultError
from airflow_partitions.keys import Key
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.scan.stored_partition import StoredPartition, snapshot
from airflow_partitions.storage.stores.open import open_writable
from airflow_partitions.storage.stores.store import Store


@contextmanager
def commit_tables(
    tables: Sequence[Files], attempt: Attempt | None = None, *, evolve: bool = False
) -> Iterator[tuple[Commit, ...]]:
    """One :class:`.Commit` for each of *tables*; all of them are made together at the end of the block, or none.

    .. code-block:: python

        with commit_tables([orders, items]) as (new_orders, new_items):
            ...

    Every partition has every table: what is changed in one is changed in all; a table without rows is a file without
    rows. Tables with manifests are moved together: one of their logs says which commits were made.

    :param tables: datasets with the same partitions in columns of the same names and types.
    :param attempt: who writes.
    :param evolve: let the schemas change.
    :raises InvalidDefinitionError: if the tables are not partitioned alike, or not all told by folders or by manifests.
    :raises ResultError: if a partition is changed in some tables only.
    """
    _check_alike(tables)
    who = attempt or Commit.anyone()
    commits: list[Commit] = []
    try:
        for files in sorted(tables, key=lambda files: files.path):
            commits.append(Commit(files, who, evolve=evolve))  # noqa: PERF401 - those made so far are discarded
        by_path = {commit.files.path: commit for commit in commits}
        yield tuple(by_path[files.path] for files in tables)
        _check_complete(commits)
        for commit, markers in zip(commits, _apply(commits, who), strict=True):
            commit.published(markers)
    except BaseException:
        for commit in commits:
            commit.discard()
        raise


def snapshot_tables(tables: Sequence[Files], keys: Iterable[Key] | None = None) -> list[Mapping[str, StoredPartition]]:
    """A :func:`.snapshot` of each of *tables*, all at one moment between two commits."""
    known = [open_writable(files) for files in tables]
    wanted = None if keys is None else list(keys)
    while True:
        with translate_errors(about(tables[0].path, []), "listed"):
            before = [each.state() for each in known]
            found = [snapshot(files, wanted) for files in tables]
            if [each.state() for each in known] == before:
                return found


def _check_alike(tables: Sequence[Files]) -> None:
    first, *others = tables
    for files in others:
        same = {name: column.type for name, column in files.layout.columns.items()}
        expected = {name: column.type for name, column in first.layout.columns.items()}
        if files.partition != first.partition or list(same.items()) != list(expected.items()):
            raise InvalidDefinitionError(
                f"tables {first.path!r} and {files.path!r} are not partitioned alike: {expected} and {same}; expected"
                " the same partitions in columns of the same names, order and types"
            )
    if len({files.path for files in tables}) < len(tables):
        raise InvalidDefinitionError("a table is named twice; expected each once")
    if len({type(open_writable(files)) for files in tables}) > 1:
        raise InvalidDefinitionError(
            f"tables {', '.join(repr(files.path) for files in tables)}: some are told by their folders, some by a"
            " manifest; expected one way for all, for example manifest= for each"
        )


def _check_complete(commits: Sequence[Commit]) -> None:
    changed = [{change.key: change.marker is None for change in commit.changes} for commit in commits]
    for commit, mine in zip(commits, changed, strict=True):
        for other, theirs in zip(commits, changed, strict=True):
            if lacking := sorted(key for key, dropped in theirs.items() if mine.get(key) is not dropped):
                raise ResultError(
                    f"partition {lacking[0]!r} is changed in table {other.files.path!r}, but not so in"
                    f" {commit.files.path!r}; expected every partition in every table, be it without rows"
                )


def _apply(commits: Sequence[Commit], attempt: Attempt) -> list[list[PartitionMetadata | None]]:
    if not any(commit.changes for commit in commits):
        return [[] for _ in commits]
    kind: type[Store] = type(commits[0].store)
    return kind.apply_all([(each.store, each.changes, each.base, each.rule) for each in commits], attempt)
