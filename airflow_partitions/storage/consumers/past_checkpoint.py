"""Comparison that tells which partitions are past a checkpoint."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import attrs

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.consumers.checkpoint import Checkpoint, key_of_watermark, rank
from airflow_partitions.storage.scan.stored_partition import StoredPartition


@attrs.frozen
class PastCheckpoint:
    """How to tell which partitions are past a checkpoint.

    :ivar comparison_func: import path of a function of two texts, a partition's key and the checkpoint, that says
        whether the partition is to be consumed. Functions of :mod:`operator` compare in the order of the keys. Without
        it, every partition that was not consumed yet is to be.
    :ivar force_checkpoint: text of a key to start after, whatever was consumed; the empty text starts with the first.
    :raises InvalidDefinitionError: if there is no function at the import path.
    """

    comparison_func: str | None = None
    force_checkpoint: str | None = None

    def __attrs_post_init__(self) -> None:
        if not callable(self._function):
            raise InvalidDefinitionError(
                f"comparison_func {self.comparison_func!r} is {self._function!r}; expected a function of two texts"
            )

    @classmethod
    def of(cls, settings: str | Mapping[str, str | None] | None) -> PastCheckpoint:
        """From the full form, a mapping of the settings, or the short one: the text to force."""
        if settings is None or isinstance(settings, str):
            return cls(force_checkpoint=settings)
        fields = [field.name for field in attrs.fields(cls)]
        for name in settings:
            if name not in fields:
                near = get_close_matches(name, fields, n=1, cutoff=0)[0]
                raise InvalidDefinitionError(f"checkpoint has no setting {name!r}; nearest: {near!r}")
        return cls(**settings)

    @property
    def marks(self) -> bool:
        """Whether a watermark is kept: with a function, what arrives behind the watermark is not consumed."""
        return self.comparison_func is not None

    def past(
        self, checkpoint: Checkpoint, definition: PartitionDefinition, partitions: Iterable[StoredPartition]
    ) -> Iterator[StoredPartition]:
        """Those of the *partitions* that are past the *checkpoint*.

        :raises CheckpointError: if the checkpoint is no key of the *definition*.
        """
        forced = self.force_checkpoint is not None
        watermark = self.force_checkpoint if forced else checkpoint.watermark
        consumed = frozenset[str]() if forced else checkpoint.consumed
        left = (partition for partition in partitions if partition.directory not in consumed)
        if not watermark:
            yield from left
        elif self._function.__module__ == "_operator":
            place = rank(key_of_watermark(watermark, definition))
            yield from (partition for partition in left if self._function(rank(partition.key), place))
        else:
            yield from (partition for partition in left if self._function(str(partition.key), watermark))

    @cached_property
    def _function(self) -> Callable[[Any, Any], bool]:
        path = self.comparison_func or "operator.gt"
        try:
            return pkgutil.resolve_name(path)  # type: ignore[no-any-return]
        except (ImportError, AttributeError, ValueError) as error:
            raise InvalidDefinitionError(
                f"comparison_func {path!r} can't be imported: {error}; expected an import path such as 'operator.ge'"
            ) from error
