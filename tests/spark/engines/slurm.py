"""Jobs of a Slurm cluster, whose nodes mount the storage: an engine of one's own."""

import shlex
import subprocess
import time

import attrs
from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException

from airflow_partitions.spark.engines import ManagedEngine


@attrs.frozen(kw_only=True)
class Slurm(ManagedEngine):
    endings = ("has ended as",)  # what an error says that means the end of a job

    def operator(self, job):
        return SlurmOperator(task_id=job.name, job=job, poll_seconds=self.poll_seconds)


class SlurmOperator(BaseOperator):
    def __init__(self, *, job, poll_seconds, **kwargs):
        super().__init__(**kwargs)
        self.job, self.poll_seconds = job, poll_seconds

    def execute(self, context):
        if not self.state():  # else an earlier try has begun it
            staged = self.job.staged
            words = ["spark-submit", "--py-files", ",".join(staged.py_files)]
            words += [word for name, value in staged.conf.items() for word in ("--conf", f"{name}={value}")]
            words += [staged.program, *staged.arguments]
            subprocess.run(["sbatch", "--job-name", self.job.token, "--wrap", shlex.join(words)], check=True)
        while (state := self.state()) in ("", "PENDING", "RUNNING"):
            time.sleep(self.poll_seconds)
        if state != "COMPLETED":
            raise AirflowException(f"job {self.job.token} has ended as {state}")

    def on_kill(self):
        subprocess.run(["scancel", "--name", self.job.token], check=True)

    def state(self):
        words = ["sacct", "--name", self.job.token, "--noheader", "--parsable2", "--format", "State"]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.partition("\n")[0]
