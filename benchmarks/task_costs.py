"""A real Airflow whose tasks tell what they cost, for the benchmarks of jobs."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from demo import services
from demo.api import Api
from demo.home import USER, Home

#: Of every task: what it cost, told by its own process when it has ended well.
SETTINGS = """
def task_policy(task):
    task.on_success_callback = [tell]


def tell(context):
    import json, os, pathlib, resource, time
    import psutil

    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cost = {
        "begin": psutil.Process().create_time(),
        "end": time.time(),
        "cpu": sum(usage.ru_utime + usage.ru_stime for usage in usages),
    }
    folder = pathlib.Path(os.environ["BENCHMARK_COSTS"], context["dag"].dag_id)
    folder.mkdir(exist_ok=True)
    part = folder / f"{context['ti'].id}.part"
    part.write_text(json.dumps(cost))
    part.rename(part.with_suffix(".json"))
"""


@attrs.frozen
class Cost:
    """Of one task: seconds since the epoch, and of processor time."""

    begin: float
    end: float
    cpu: float

    @property
    def seconds(self) -> float:
        """From fork to end."""
        return self.end - self.begin


@attrs.frozen
class CostsHome(Home):
    """A home with the Dags of one file, and tasks that tell what they cost.

    :ivar file: that has the Dags.
    :ivar settings: what Airflow's processes begin with, before the tasks are made to tell.
    """

    file: Path = attrs.field(kw_only=True)
    settings: str = attrs.field(default="", kw_only=True)

    @property
    def costs(self) -> Path:
        """What tasks have told: a folder for each Dag."""
        return self.root / "costs"

    def create(self) -> None:
        """Also the Dag file, and what Airflow's processes begin with."""
        super().create()
        self.costs.mkdir(exist_ok=True)
        if not (link := self.dags / self.file.name).exists():
            link.symlink_to(self.file)
        (self.root / "airflow" / "config" / "airflow_local_settings.py").write_text(self.settings + SETTINGS)

    def environment(self, outer: dict[str, str], port: int = 0) -> dict[str, str]:
        """That of the demo, with Dags that are not paused."""
        return super().environment(outer, port) | {
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "BENCHMARK_COSTS": str(self.costs),
        }


@contextmanager
def airflow(home: CostsHome, dags: Sequence[str], names: Collection[str] = services.AIRFLOW) -> Iterator[Api]:
    """An Airflow of the *home*, started anew, once it has all *dags*.

    :param names: its services.
    """
    try:
        running = services.start(home, None, lambda _: None, names)
        with Api(running.address, USER, home.secret("password")) as api:
            for dag in dags:
                while api.get(f"dags/{dag}") is None:
                    errors = api.get("importErrors")["import_errors"]
                    if errors:
                        raise RuntimeError(errors[0]["stack_trace"])
                    time.sleep(1)
            yield api
    finally:
        services.stop(home)


def ask(api: Api, home: CostsHome, dag: str, keys: Sequence[str]) -> list[Cost]:
    """Let *dag* make the partitions *keys*, and wait for all.

    :raises RuntimeError: if one fails, with the end of its log.
    """
    folder = home.costs / dag
    before = set(folder.glob("*.json"))
    asked = [{"logical_date": None, "partition_key": key} for key in keys]
    runs = {api.post(f"dags/{dag}/dagRuns", body)["dag_run_id"] for body in asked}
    while len(files := set(folder.glob("*.json")) - before) < len(keys):
        for run in api.get(f"dags/{dag}/dagRuns", state=["failed"])["dag_runs"]:
            if run["dag_run_id"] in runs:
                logs = sorted((home.logs / "tasks").rglob(f"*{run['dag_run_id']}*/**/attempt=1.log"))
                end = logs[-1].read_text()[-4000:] if logs else "it has no log"
                raise RuntimeError(f"{dag} {run['partition_key']} failed:\n{end}")
        time.sleep(0.5)
    return [Cost(**json.loads(file.read_text())) for file in files]
