"""AWS Glue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.spark.engines.managed import ManagedEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class Glue(ManagedEngine):
    """Runs of a job of Glue, by a kind of ``GlueJobOperator``.

    .. code-block:: python

        Glue(job_name="flights", run_arguments={"WorkerType": "G.1X", "NumberOfWorkers": 4})

    The job is there already, of type ``glueetl``: it says the role, the version and the workers, and how many of its
    runs may be at work at the same time. Its own script is not run. Glue starts a run twice if it is asked twice, so a
    task looks first among the runs of the job for its own.

    :param job_name: the job of Glue.
    :param script_args: arguments of each run, as Glue takes them: ``{"--additional-python-modules": "pyarrow,s3fs"}``.
    :param run_arguments: others of Glue's ``StartJobRun``: ``WorkerType``, ``Timeout``, …
    :param aws_conn_id: Airflow's connection of type ``aws``.
    :param region_name: if it is not that of the connection.
    :param arguments: any others of the operator.
    """

    schemes: ClassVar[Mapping[str, str]] = {"s3": "s3", "s3a": "s3"}
    provider: ClassVar[str] = "apache-airflow-providers-amazon"
    #: Arguments of a run have names: a program of the author's own gets those of ``script_args``.
    words: ClassVar[frozenset[str] | None] = frozenset({"py_files"})
    endings: ClassVar[tuple[str, ...]] = ("terminal failure", "max attempts", "Error in glue job")

    job_name: str
    script_args: Mapping[str, str] = attrs.field(factory=dict)
    run_arguments: Mapping[str, Any] = attrs.field(factory=dict)
    aws_conn_id: str | None = "aws_default"
    region_name: str | None = None
    arguments: Mapping[str, Any] = attrs.field(factory=dict)

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow_partitions.spark.engines.glue_run import TOKEN, GlueRunOperator

        staged = job.staged
        own = dict(self.script_args)
        files = [*own.pop("--extra-py-files", "").split(","), *map(self.url, staged.py_files)]
        conf = [own.pop("--conf", ""), *(_word(name, value) for name, value in staged.conf.items())]
        return GlueRunOperator(
            task_id=job.name,
            job_name=self.job_name,
            script_args={
                **own,
                "--scriptLocation": self.url(staged.program),
                "--extra-py-files": ",".join(filter(None, files)),
                "--conf": " --conf ".join(filter(None, conf)),  # the one argument that Glue has for all properties
                TOKEN: job.token,
            },
            run_job_kwargs=dict(self.run_arguments),
            aws_conn_id=self.aws_conn_id,
            region_name=self.region_name,
            waiter_delay=self.poll_seconds,
            waiter_max_attempts=self.polls,
            deferrable=self.deferrable and job.may_defer,
            durable=False,  # its own way finds the run of a task that has succeeded, too
            **self.arguments,
        )


def _word(name: str, value: Any) -> str:
    if any(character.isspace() for character in str(value)):
        raise InvalidDefinitionError(
            f"Spark property {name}={value!r}: Glue takes all properties as one text and parts it at blanks; expected a"
            " value without any, or the property set by the job's own program"
        )
    return f"{name}={value}"
