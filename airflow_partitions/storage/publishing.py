"""Putting a partition's new files in the place of its old ones."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs

from airflow_partitions.errors import ConflictError, StorageError
from airflow_partitions.keys import Key
from airflow_partitions.storage.attempt import Attempt
from airflow_partitions.storage.exchange import move, replace
from airflow_partitions.storage.parquet import Parquet
from airflow_partitions.storage.place import local
from airflow_partitions.storage.staging import Staging
from airflow_partitions.storage.written import Written

MARKER = "_partition.json"
REPLACED = "_replaced"
_LOCK = "_publish.lock"
STAMP = "%Y%m%dT%H%M%SZ"


@attrs.frozen
class Marker:
    """What a published partition says about itself, in a file that readers skip.

    :ivar key: text of its key.
    :ivar attempt: who published it.
    :ivar published: when, as ISO text in UTC.
    """

    key: str
    attempt: Attempt
    rows: int
    files: int
    bytes: int
    published: str

    def to_json(self) -> dict[str, Any]:
        """JSON form, read by :func:`read_marker`."""
        return {"version": 1, **attrs.asdict(self)}


def publish(storage: Parquet, key: Key, attempt: Attempt, staging: Staging, written: Written) -> Marker:
    """Make the staged files the content of the partition *key*.

    Readers see the old files or the new ones, never none and never a mix (see :func:`.exchange.replace` for file
    systems that can't exchange). The replaced files stay in ``_replaced`` for a while: see :func:`.cleaning.clean`. A
    query that has listed a partition's files but not yet opened them fails when they are replaced, it never mixes; our
    driver then reads again.

    :raises ResultError: if the staged files are not those that were *written*.
    :raises ConflictError: if a newer try of the same run has published; nothing was changed.
    """
    written.check(staging.data)
    root, target = local(storage.path), local(storage.path_of(key))
    now = datetime.now(UTC)
    marker = Marker(
        str(key), attempt, written.rows, len(written.files), written.bytes, now.isoformat(timespec="seconds")
    )
    write_json(staging.data / MARKER, marker.to_json())
    try:
        with _locked(root):
            _check_newest(read_marker(target), attempt, key)
            if target.exists():
                old = root / REPLACED / f"{now.strftime(STAMP)}-{attempt.name}" / target.relative_to(root)
                old.parent.mkdir(parents=True, exist_ok=True)
                replace(staging.data, target, old)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                move(staging.data, target)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"partition {str(key)!r} of {storage.path!r} can't be published: {error}") from error
    return marker


def read_marker(folder: Path) -> Marker | None:
    """What the partition in *folder* says about itself; ``None`` if it was not published by us."""
    try:
        form = json.loads((folder / MARKER).read_text())
        fields = {name: form[name] for name in ("key", "rows", "files", "bytes", "published")}
        return Marker(**fields, attempt=Attempt(**form["attempt"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(
            f"{folder / MARKER} is not a partition's marker ({error!r}); remove it to publish anew"
        ) from error


def write_json(path: Path, form: Any) -> None:
    """Write *form* to *path* in one step: a reader finds all of it or nothing."""
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_text(json.dumps(form, separators=(",", ":")))
    draft.replace(path)


def _check_newest(marker: Marker | None, attempt: Attempt, key: Key) -> None:
    if marker is None or marker.attempt.token != attempt.token or marker.attempt.number <= attempt.number:
        return
    raise ConflictError(
        f"partition {str(key)!r} holds what {marker.attempt} published at {marker.published};"
        f" the older {attempt} does not replace it"
    )


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Hold the storage's lock: check and exchange belong together. It ends with the process, however that ends."""
    with (root / _LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
