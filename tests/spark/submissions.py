"""What stands for spark-submit where a test is about what is around it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from airflow_partitions.frames.result import Reads
from airflow_partitions.spark.handover import PROPERTY, Handover, received
from airflow_partitions.spark.job_result import JobResult
from airflow_partitions.storage.metadata.staged_files import StagedFiles


class Cluster:
    """Stands for spark-submit: keeps the commands, and does what the test says."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.environments: list[dict[str, str]] = []
        self.options = ""
        self.job: Callable[[Handover], None] = self.succeed
        self.text = "1"
        self.schema = {"x": "int"}

    def submit(self, hook: Any, application: str = "", **_: Any) -> None:
        command = hook._build_spark_submit_command(application)
        self.commands.append(command)
        self.environments.append(hook._env or {})
        self.options = (os.environ | self.environments[-1])["SPARK_SUBMIT_OPTS"]
        for handover in self.handovers():
            self.job(handover)

    @property
    def conf(self) -> dict[str, str]:
        command = self.commands[-1]
        pairs = [command[i + 1] for i, word in enumerate(command) if word == "--conf"]
        return dict(pair.split("=", 1) for pair in pairs)

    @property
    def defaults(self) -> dict[str, str]:
        """Properties of the Java that spark-submit starts, which all others replace."""
        words = [word.removeprefix("-D") for word in self.options.split() if word.startswith("-Dspark.")]
        return dict(word.split("=", 1) for word in words)

    @property
    def handover(self) -> Handover:
        return Handover.from_text(self.conf[PROPERTY])

    def handovers(self) -> Iterator[Handover]:
        """All of the last command, each read as a driver does it."""
        context = SimpleNamespace(getConf=lambda: self.conf)
        for sent in received(SimpleNamespace(sparkContext=context)):  # type: ignore[arg-type]
            if (handover := sent()) is not None:
                yield handover

    def succeed(self, handover: Handover) -> None:
        handover.staging.data.mkdir()
        (handover.staging.data / "part-0.parquet").write_text(self.text)
        JobResult(
            attempt=handover.attempt.name,
            written=StagedFiles(3, {"part-0.parquet": len(self.text)}, self.schema),
            reads={"flights": Reads(selected=24, partitions=24, files=24, bytes=9, rows=48, scans=1)},
            others=(),
            application="local-1",
            seconds=1.5,
        ).save(handover.staging)
