"""A part is asked for once, waited for while services fail, and measured whoever ends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cluster import course
from cluster.course import Course
from cluster.home import ClusterHome
from cluster.measures import measures
from cluster.plan import Part, plan
from demo.errors import DemoError
from demo.plan import Target
from demo.steps import Steps

ASSET = "hourly_flights"
KEYS = plan(quick=True).keys[ASSET][:4]


class FakeAirflow:
    """Each look at its numbers ends a run, as the next of *ends* says.

    :ivar away: how many of the next calls fail.
    """

    def __init__(self, *ends: str) -> None:
        self.ends = list(ends)
        self.states: dict[str, str] = {}
        self.asked: list[str] = []
        self.away = 0

    def _come(self) -> None:
        if self.away:
            self.away -= 1
            raise DemoError("Airflow does not answer")

    def get(self, path: str, **query: Any) -> Any:
        self._come()
        if path == "importErrors":
            return {"import_errors": []}
        if path != "dagStats":
            return {"is_stale": False} if path.startswith("dags/") else None
        queued = [key for key, state in self.states.items() if state == "queued"]
        if queued and self.ends:
            self.states[queued[0]] = self.ends.pop(0)
        counts = Counter(self.states.values())
        stats = [{"state": state, "count": counts[state]} for state in ("queued", "running", "success", "failed")]
        return {"dags": [{"stats": stats}]}

    def pages(self, path: str, field: str, **query: Any) -> Iterator[dict[str, Any]]:
        self._come()
        for key, state in self.states.items():
            yield {"partition_key": key, "dag_run_id": f"run {key}", "state": state}

    def patch(self, path: str, body: dict[str, Any]) -> None:
        self._come()

    def post(self, path: str, body: dict[str, Any], known: tuple[int, ...] = ()) -> Any:
        self._come()
        self.asked.append(path)
        if path == "backfills":
            again = [key for key in KEYS if self.states.get(key) in (None, "failed")]
            self.states |= dict.fromkeys(again, "queued")
        return {}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClusterHome:
    monkeypatch.setattr(course, "PAUSE", 0.0)
    monkeypatch.setattr(course, "BEAT", 0.0)
    return ClusterHome.opened(tmp_path)


def part() -> Part:
    start, end = plan(quick=True).hours[0], plan(quick=True).hours[3]
    return Part("cold", "cold", (Target(ASSET, tuple(KEYS), (start, end)),))


def make(
    home: ClusterHome,
    airflow: FakeAirflow,
    check: Callable[[], None] = lambda: None,
    watch: Callable[[float], object] = lambda share: None,
) -> list[str]:
    steps = Steps(Console(file=StringIO()))
    runs = Course(home, airflow, steps, check).make(part(), watch)  # type: ignore[arg-type]
    return [run.state for run in runs]


def test_a_part_is_asked_for_once_and_measured(home: ClusterHome) -> None:
    airflow, shares = FakeAirflow(*["success"] * 4), list[float]()
    assert make(home, airflow, watch=shares.append) == ["success"] * 4
    assert airflow.asked == ["connections", "backfills"]
    assert shares == [0.25, 0.5, 0.75, 1.0]
    assert measures(home)["cold"].partitions == 4
    assert make(home, airflow) == ["success"] * 4
    assert airflow.asked == ["connections", "backfills"]


def test_a_part_goes_on_when_airflow_was_away(home: ClusterHome) -> None:
    airflow = FakeAirflow(*["success"] * 4)

    def watch(share: float) -> None:
        airflow.away = 3

    assert make(home, airflow, watch=watch) == ["success"] * 4


def test_a_cluster_that_can_not_go_on_is_told(home: ClusterHome) -> None:
    airflow = FakeAirflow("success")

    def check() -> None:
        if airflow.states.get(KEYS[0]) == "success":
            raise DemoError("postgres ends whenever it is started")

    with pytest.raises(DemoError, match="postgres ends"):
        make(home, airflow, check)
    assert measures(home)["cold"].partitions == 1


def test_failed_runs_are_returned_and_made_by_the_next_call(home: ClusterHome) -> None:
    airflow = FakeAirflow("success", "failed", "success", "success")
    assert sorted(make(home, airflow)) == ["failed", "success", "success", "success"]
    airflow.ends = ["success"]
    assert make(home, airflow) == ["success"] * 4
    assert measures(home)["cold"].partitions == 4


def test_a_part_that_was_left_is_gone_on_with(home: ClusterHome) -> None:
    airflow = FakeAirflow("success", "success")

    def leave(share: float) -> None:
        if share == 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(home, airflow, watch=leave)
    assert measures(home)["cold"].partitions == 2
    airflow.ends = ["success", "success"]
    assert make(home, airflow) == ["success"] * 4
    assert airflow.asked == ["connections", "backfills", "connections"]
    assert measures(home)["cold"].partitions == 3  # one was made while nobody looked
