"""A job, as an engine gets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from airflow_partitions.spark.archive import make_archive
from airflow_partitions.spark.handover import PROPERTY, Handover, pack
from airflow_partitions.storage.filesystem.filesystem import write

#: The program for a decorated function.
PROGRAM = str(Path(__file__).parents[1] / "program" / "make_partition.py")


@attrs.frozen
class StagedJob:
    """What a job is made of, put where a cluster reaches it: beside the staging place of its partition.

    All places are paths, or URLs of the storage's own scheme, such as ``s3://…``.

    :ivar program: the Python program to run.
    :ivar py_files: what comes along for Python.
    :ivar arguments: of the program.
    :ivar conf: Spark properties, the handover among them. Its values hold no spaces of ours.
    """

    program: str
    py_files: tuple[str, ...]
    arguments: tuple[str, ...]
    conf: Mapping[str, str]


@attrs.define(kw_only=True, slots=False)
class SparkJob:
    """A job to run.

    :ivar name: of the asset.
    :ivar token: of this job, and of no other: up to 64 of ``0-9a-f-``. What was begun with it is not begun again.
    :ivar handovers: of the partitions that it makes; several are made one after the other.
    :ivar application: path of the program.
    :ivar conf: Spark properties.
    :ivar words: parameters of ``SparkSubmitOperator`` that were given to the asset.
    :ivar may_defer: whether its task may end while it runs, and go on when it has ended.
    :ivar is_begun: whether an earlier try has begun it: only where a platform starts a token once is it begun again.
    """

    name: str
    token: str
    handovers: Sequence[Handover]
    application: str
    conf: Mapping[str, str] = attrs.field(factory=dict)
    words: Mapping[str, Any] = attrs.field(factory=dict)
    may_defer: bool = False
    is_begun: bool = False

    @cached_property
    def staged(self) -> StagedJob:
        """The job beside its staging place, put there when it is first asked for."""
        own = self.words.get("py_files") or ""
        with TemporaryDirectory(prefix="airflow_partitions-") as folder:
            archive = make_archive(Path(folder))
            names = [name.strip() for name in own.split(",") if name.strip()]
            return StagedJob(
                program=self._put(self.application),
                py_files=(*map(self._put, names), self._put(str(archive))),
                arguments=tuple(map(str, self.words.get("application_args") or ())),
                conf={**self.conf, PROPERTY: pack(self.handovers, longest=0)},
            )

    def _put(self, file: str) -> str:
        """Where a cluster finds *file*: in the staging place, unless it is a URL already."""
        if "://" in file:
            return file
        place = self.handovers[0].staging.folder / Path(file).name
        write(place, Path(file).read_bytes())
        return str(place)
