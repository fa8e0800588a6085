"""Services are started in order, started again when they end, and all ended with their supervisor."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest

from cluster import supervisor
from cluster.__main__ import main
from cluster.chaos import Chaos
from cluster.home import ClusterHome
from cluster.services import Program
from cluster.state import State
from cluster.supervisor import Supervisor

FOREVER = "import time; time.sleep(600)"
CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {FOREVER!r}])"


def program(home: ClusterHome, name: str, code: str, *after: str, once: bool = False) -> Program:
    """A program that is healthy as soon as it runs."""
    words = (sys.executable, "-c", f"print('this is {name}', flush=True); {code}")
    return Program(name=name, words=words, folder=home.root, healthy=lambda: True, after=after, once=once)


@pytest.fixture
def home(tmp_path: Path) -> ClusterHome:
    return ClusterHome.opened(tmp_path)


Run = Callable[..., None]


@pytest.fixture
def run(home: ClusterHome) -> Iterator[Run]:
    """Runs a supervisor of these programs in a process of its own."""
    processes = []

    def supervise(programs: list[Program]) -> None:
        supervisor.DELAYS = (0.1,)
        Supervisor(home, programs, dict(os.environ)).run()

    def run(*programs: Program) -> None:
        process = get_context("fork").Process(target=supervise, args=(list(programs),))
        process.start()
        processes.append(process)

    yield run
    for process in processes:
        process.terminate()
        process.join()


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def state(home: ClusterHome) -> State:
    state = State.of(home)
    assert state is not None
    return state


def healthy(home: ClusterHome) -> bool:
    there = State.of(home)
    return bool(there and there.healthy)


def process_of(home: ClusterHome, name: str) -> psutil.Process:
    service = state(home).service(name).process
    assert service
    assert service.process
    return service.process


def test_each_is_started_after_those_that_it_needs(home: ClusterHome, run: Run) -> None:
    run(
        program(home, "last", FOREVER, "first", "once"),
        program(home, "once", "import time; time.sleep(1)", "first", once=True),
        program(home, "first", FOREVER),
    )
    until(lambda: healthy(home))
    started = {each.name: each.process.started for each in state(home).services if each.process}
    assert started["first"] < started["once"] < started["last"] - 1
    assert state(home).service("once").starts == 1


def test_what_was_killed_is_started_again_without_what_it_has_left(home: ClusterHome, run: Run) -> None:
    run(program(home, "it", CHILD), program(home, "other", FOREVER))
    until(lambda: healthy(home) and process_of(home, "it").children())
    first, other = process_of(home, "it"), process_of(home, "other")
    (child,) = first.children()
    first.kill()
    until(lambda: state(home).service("it").starts == 2 and healthy(home))
    assert process_of(home, "it") != first
    assert process_of(home, "other") == other
    assert not child.is_running()
    assert home.log("it").read_text() == "this is it\nthis is it\n"


def test_what_ends_again_and_again_is_given_up(home: ClusterHome, run: Run) -> None:
    run(program(home, "it", "raise SystemExit(1)", once=True), program(home, "after", FOREVER, "it"))
    until(lambda: (there := State.of(home)) and there.services and there.service("it").broken)
    assert state(home).service("it").starts == supervisor.TRIES
    assert state(home).service("after").process is None
    assert "it has ended with 1" not in home.log("it").read_text()


def test_all_ends_with_the_supervisor(home: ClusterHome, run: Run) -> None:
    run(program(home, "it", CHILD), program(home, "postgres", FOREVER))
    until(lambda: healthy(home) and process_of(home, "it").children())
    processes = [process_of(home, "it"), *process_of(home, "it").children(), process_of(home, "postgres")]
    os.kill(state(home).supervisor.pid, signal.SIGTERM)
    until(lambda: not home.processes.exists())
    assert not any(process.is_running() for process in processes)


def test_stop_ends_what_a_killed_supervisor_has_left(
    home: ClusterHome, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run(program(home, "it", CHILD), program(home, "other", FOREVER))
    until(lambda: healthy(home) and process_of(home, "it").children())
    processes = [process_of(home, "it"), *process_of(home, "it").children(), process_of(home, "other")]
    place = ["--home", str(home.root)]
    assert main(["status", *place]) == 0
    os.kill(state(home).supervisor.pid, signal.SIGKILL)
    until(lambda: not state(home).running)
    assert main(["status", *place]) == 1
    assert "it             running" in capsys.readouterr().out
    assert main(["stop", *place]) == 0
    assert "stopped it, other" in capsys.readouterr().err
    assert not any(process.is_running() for process in processes)
    assert main(["stop", *place]) == 0
    assert main(["status", *place]) == 1


def test_chaos_kills_each_once_and_waits_until_it_is_there_again(
    home: ClusterHome, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster.chaos.VICTIMS", ("one", "two"))
    run(program(home, "one", FOREVER), program(home, "two", FOREVER))
    until(lambda: healthy(home))
    words: list[str] = []
    chaos = Chaos(home, words.append)
    for share in (0.1, 0.4, 0.5, 0.9, 1.0):
        chaos.watch(share)
    assert [(death.service, death.share) for death in chaos.deaths] == [("one", 0.4), ("two", 0.9)]
    assert [line.partition(",")[0] for line in words] == [
        *("killed one at 40%", "one was started again"),
        *("killed two at 90%", "two was started again"),
    ]
    assert [each.starts for each in state(home).services] == [2, 2]
