"""Changing a table by compare-and-swap, until it was as it was looked at."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from pyiceberg.exceptions import CommitFailedException
from pyiceberg.table import Table

from airflow_partitions.core.errors import (
    ConflictError,
    PartitionError,
    StorageError,
    UnknownOutcomeError,
    UnreachableError,
)
from airflow_partitions.storage.iceberg.table.catalog import TableReference, translated_errors
from airflow_partitions.storage.iceberg.table.new_snapshot import TableChange
from airflow_partitions.storage.iceberg.table.snapshots import last_number

#: How often a change is tried while others are making theirs.
_TRIES = 100
_SHORTEST, _LONGEST = 0.02, 1.0


def compare_and_swap(reference: TableReference, prepare: Callable[[Table], TableChange | None]) -> None:
    """Make the change that *prepare* thinks of when it sees the table as it is now.

    pyiceberg tries again, too; but it does not look again at what others have changed.

    :param prepare: asked again each time that another was quicker; ``None`` if there is nothing to change.
    :raises ConflictError: if others never let go of the table.
    :raises UnknownOutcomeError: if nobody can say whether the change was made.
    """
    lost: Exception | None = None
    sent: int | None = None
    for number in range(_TRIES):
        if number:
            time.sleep(random.uniform(_SHORTEST, min(_LONGEST, _SHORTEST * 2**number)))
        table = None
        try:
            table = reference.load()
            change = prepare(table)
        except PartitionError:
            # On top of another snapshot what was sent can't be made any more.
            if lost is None or (table is not None and table.metadata.current_snapshot_id != sent):
                raise
            break
        if change is None:
            return
        try:
            with translated_errors(f"table {reference.name!r}", "changed"):
                change.commit()
        except CommitFailedException:
            change.discard()
        except UnreachableError as error:  # what was sent may have arrived: the next look tells
            lost, sent = error, table.metadata.current_snapshot_id
        except (ValueError, StorageError):  # another branch has moved on, of which the requirements do not speak
            if last_number(reference.load().metadata) == last_number(table.metadata):
                raise
            change.discard()
        else:
            return
    if lost is not None:
        raise UnknownOutcomeError(
            f"table {reference.name!r}: the catalog's answer was lost ({lost}), so that nobody can say whether the"
            " change was made; look at the table's snapshots, and try again"
        ) from lost
    raise ConflictError(f"table {reference.name!r}: {_TRIES} other commits came first; nothing was changed: try again")
