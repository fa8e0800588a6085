"""The inputs of a function that runs without Spark, read as the frames it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from airflow_partitions.errors import MissingInputError, StorageError
from airflow_partitions.frames.input import Input
from airflow_partitions.frames.result import Reads
from airflow_partitions.storage.scan.stored_partition import StoredPartition

#: How often the inputs are read again when files are replaced while they are read.
_REPEATS = 3


@attrs.frozen
class Reading:
    """What was read.

    :ivar frames: the frame of each input.
    :ivar reads: counts of each input: its partitions, their files and bytes; rows, of a frame that has them at hand.
    """

    frames: Mapping[str, Any]
    reads: Mapping[str, Reads]


def read_inputs(inputs: Mapping[str, Input]) -> Reading:
    """Read *inputs*, each as it is between two commits.

    :raises MissingInputError: if a partition is not stored.
    :raises StorageError: if a file can't be read.
    """
    for repeat in range(_REPEATS + 1):
        stored = {name: source.stored() for name, source in inputs.items()}
        try:
            frames = {name: source.read(stored=stored[name]) for name, source in inputs.items()}
        except StorageError as error:
            # Whoever publishes a partition while it is read takes files away: then there are new ones to read.
            replaced = any(source.identities(stored[name]) != source.identities() for name, source in inputs.items())
            if isinstance(error, MissingInputError) or repeat == _REPEATS or not replaced:
                raise
        else:
            return Reading(frames, {name: _reads(frames[name], stored[name]) for name in inputs})
    raise AssertionError  # the last repeat returns or raises


def _reads(frame: Any, stored: Mapping[str, StoredPartition]) -> Reads:
    partitions = len(stored)
    return Reads(
        selected=partitions,
        partitions=partitions,
        files=sum(len(partition.files) for partition in stored.values()),
        bytes=sum(partition.bytes for partition in stored.values()),
        rows=len(frame) if hasattr(frame, "__len__") else 0,
        scans=1,
    )
