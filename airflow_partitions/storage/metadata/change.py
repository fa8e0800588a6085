"""Change of one partition in a commit: written or dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, get_args

import attrs

from airflow_partitions.core.errors import ConflictError, InvalidDefinitionError, NotStoredError, StoredError
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: ``create`` fails if the partition is stored, ``append`` adds files to what is stored, ``overwrite`` replaces it; the
#: last two make a partition that is not there.
Mode = Literal["create", "append", "overwrite"]
MODES: tuple[str, ...] = get_args(Mode)


@attrs.frozen
class Change:
    """One partition to be written or dropped.

    :ivar key: text of its key.
    :ivar directory: its folder below the root of the dataset.
    :ivar mode: how it is written.
    :ivar metadata: what it will say about itself; ``None`` to drop it.
    :ivar folder: where its new files lie.
    :ivar files: their names below *folder*, and sizes.
    :ivar foreign: the files stay where they are, whatever happens: they belong to someone else.
    """

    key: str
    directory: str
    mode: str
    metadata: PartitionMetadata | None = None
    folder: Location | None = None
    files: Mapping[str, int] = attrs.field(factory=dict)
    foreign: bool = False

    def __attrs_post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidDefinitionError(f"mode {self.mode!r} is not known; expected one of: {', '.join(MODES)}")

    def check(self, stored: bool, current: PartitionMetadata | None, attempt: Attempt, base: int | None) -> None:
        """Make sure that this change may be made to what is stored now.

        :param stored: whether the partition is there.
        :param current: what it says about itself, if it does.
        :param base: number of the last commit that the writer knew of when it began.
        :raises StoredError: if it is to be created, but is there.
        :raises NotStoredError: if it is to be dropped, but is not there.
        :raises ConflictError: if another writer published it meanwhile, or a newer try of the same run.
        """
        if current is not None:
            self._check_writers(current, attempt, base)
        if self.metadata is None and not stored:
            raise NotStoredError(f"partition {self.key!r} is not stored; expected one that is, to drop it")
        if self.metadata is not None and self.mode == "create" and stored and not _again(current, attempt):
            by = "" if current is None else f" by {current.attempt} at {current.published}"
            raise StoredError(
                f"partition {self.key!r} is stored already{by}; expected none, or mode='append' or 'overwrite'"
            )

    def _check_writers(self, current: PartitionMetadata, attempt: Attempt, base: int | None) -> None:
        if current.attempt.token == attempt.token and current.attempt.number > attempt.number:
            raise ConflictError(
                f"partition {self.key!r} holds what {current.attempt} published at {current.published};"
                f" the older {attempt} does not replace it"
            )
        if self.mode == "append" or _again(current, attempt):
            return
        if base is not None and current.commit > base:
            raise ConflictError(
                f"partition {self.key!r} was published by {current.attempt} at {current.published}, after {attempt} had"
                " begun; nothing was changed: run it again on what is stored now"
            )


def _again(current: PartitionMetadata | None, attempt: Attempt) -> bool:
    """Whether *attempt* makes again what an earlier try of its run has published."""
    return current is not None and current.attempt.token == attempt.token and current.attempt.number < attempt.number


def superseded(names: Iterable[str], attempt: Attempt, key: str) -> set[str]:
    """Those of the files *names* in the partition *key* that *attempt* makes again: earlier tries of its run appended
    them.

    :raises ConflictError: if a newer try of its run has appended some.
    """
    tries = re.compile(rf"{attempt.token}-(\d+)-")
    numbers = {name: int(match[1]) for name in names if (match := tries.search(name))}
    if newer := [number for number in numbers.values() if number > attempt.number]:
        raise ConflictError(
            f"partition {key!r} holds what try {max(newer)} of the same run has appended; the older {attempt}"
            " adds nothing to it"
        )
    return {name for name, number in numbers.items() if number < attempt.number}
