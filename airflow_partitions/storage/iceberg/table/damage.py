"""Damaged files of tables: whatever their readers stumble over, the file is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.storage.filesystem.translate_errors import translate_errors


@contextmanager
def damage_told(file: str, errors: tuple[type[Exception], ...] = (Exception,)) -> Iterator[None]:
    """Say that *file* is damaged, if it can be reached and not be read: its bytes may be taken for anything.

    :param errors: what its reader raises then.
    :raises DamagedError: if it is.
    """
    try:
        yield
    except (OSError, PartitionError):  # it can't be reached, which is told elsewhere
        raise
    except errors:
        with translate_errors(file, "read", damaged=errors):
            raise
