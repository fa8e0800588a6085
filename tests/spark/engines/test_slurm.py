"""An engine of one's own, as the docs show it, with commands in the place of Slurm's."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from airflow_partitions.core.errors import InvalidDefinitionError, JobError, SparkServerError
from airflow_partitions.spark.shipping import ship
from tests.spark.in_process import good
from tests.spark.operator_task import context, execute, task

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
HERE = Path(__file__).parent


class Commands:
    """Those of Slurm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        for name in ("sbatch", "sacct", "scancel"):
            script = folder / "bin" / name
            script.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "slurm_commands.py"} {name} "$@"\n')
            script.chmod(0o755)

    @property
    def states(self) -> list[str]:
        return [json.loads(file.read_text())["state"] for file in sorted(self.folder.glob("*.json"))]


@pytest.fixture
def slurm(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands = Commands(tmp_path_factory.mktemp("slurm"))
    own = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{commands.folder / 'bin'}:{own}:/usr/bin:/bin")
    monkeypatch.setenv("SLURM_FOLDER", str(commands.folder))
    return commands


def engine(lake: Any, **changes: Any) -> Any:
    from tests.spark.engines.slurm import Slurm

    return Slurm(**{"mounts": [str(lake.root)], "poll_seconds": 1, **changes})


def broken(flights: Any) -> Any:
    raise ValueError("no such hour")


@pytest.mark.spark
def test_an_engine_of_ones_own(lake: Any, slurm: Commands) -> None:
    function, conf = ship(good, inputs=["flights"]), {"spark.ui.enabled": "false", "spark.master": "local[2]"}
    event = execute(task(lake, engine=engine(lake, conf=conf), function=function, strict=True), lake)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}], (slurm.folder / "log").read_text()
    assert (event["reads"]["flights"]["files"], event["reads"]["flights"]["rows"]) == (24, 48)
    assert slurm.states == ["COMPLETED"]


@pytest.mark.spark
@pytest.mark.long
def test_its_failed_job_shows_its_reason(lake: Any, slurm: Commands) -> None:
    with pytest.raises(JobError, match="no such hour"):
        task(lake, engine=engine(lake), function=ship(broken, inputs=["flights"])).execute(context(lake))
    assert slurm.states == ["FAILED"]


def waiting(patch: pytest.MonkeyPatch, wait: Callable[[float], None]) -> None:
    """What the operator does while a job is at work; threads of others wait as always."""
    patch.setattr("tests.spark.engines.slurm.time", SimpleNamespace(sleep=wait))


def test_its_job_is_found_and_cancelled(lake: Any, slurm: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def killed(_: float) -> None:
        raise Killed

    def cancelled(seconds: float) -> None:
        if slurm.states == ["RUNNING"]:
            monkeypatch.setenv("SLURM_PROGRAM", "false")
            operator.on_kill()
        time.sleep(seconds)

    monkeypatch.setenv("SLURM_PROGRAM", "sleep 60")
    with pytest.MonkeyPatch.context() as patch:
        waiting(patch, killed)
        with pytest.raises(Killed):
            task(lake, engine=engine(lake)).execute(context(lake))
    operator = task(lake, engine=engine(lake))
    waiting(monkeypatch, cancelled)
    with pytest.raises(SparkServerError, match="has ended as FAILED"):
        operator.execute(context(lake, 2))  # finds the first, which is cancelled, and starts another
    assert sorted(slurm.states) == ["CANCELLED by 1", "FAILED"]


def test_it_refuses_what_its_machines_do_not_have(lake: Any, slurm: Commands) -> None:
    with pytest.raises(InvalidDefinitionError, match=r"Slurm; expected a folder of mounts=.*\(there are none\)"):
        task(lake, engine=engine(lake, mounts=())).execute(context(lake))
    assert slurm.states == []
