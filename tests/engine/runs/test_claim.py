"""The claim on a partition, in every order in which the calls of several runs can fall."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_partitions.core.errors import UnknownVersionError
from airflow_partitions.engine.runs import claim

DAY = "2013-02-08"


class Steps:
    """A state store, each call of which is one step; a schedule says which run makes the next."""

    def __init__(self) -> None:
        self.cells: dict[str, Any] = {}

    def run(self, order: list[int], count: int, *, dags: bool = False) -> list[Any]:
        """What each run gives way to, its calls falling in that order; with *dags*, all have one id, in Dags of their
        own."""
        turns = [threading.Semaphore(0) for _ in range(count)]
        back = threading.Semaphore(0)
        results: list[Any] = ["unfinished"] * count
        finished = [False] * count
        runs = [context("run", f"dag{i}") if dags else context(f"run{i}") for i in range(count)]

        def work(i: int) -> None:
            turns[i].acquire()
            results[i] = claim._other_at_work(self._store(turns[i], back), runs[i], DAY)
            finished[i] = True
            back.release()

        threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(count)]
        for thread in threads:
            thread.start()
        for i in self._turns(order, finished):
            turns[i].release()
            back.acquire()
        return results

    @staticmethod
    def _turns(order: list[int], finished: list[bool]) -> Iterator[int]:
        for i in order:
            if not finished[i]:
                yield i
        for i in range(len(finished)):
            while not finished[i]:
                yield i

    def _store(self, turn: threading.Semaphore, back: threading.Semaphore) -> Any:
        def get(key: str) -> Any:
            value = self.cells.get(key)
            back.release()
            turn.acquire()
            return value

        def put(key: str, value: Any) -> None:
            self.cells[key] = value
            back.release()
            turn.acquire()

        return SimpleNamespace(get=get, set=put)


def context(run_id: str, dag_id: str = "flights") -> dict[str, Any]:
    return {
        "dag_run": SimpleNamespace(run_id=run_id, dag_id=dag_id),
        "ti": SimpleNamespace(get_dr_count=lambda dag_id, run_ids, states: 1),
    }


@settings(max_examples=400, deadline=None)
@given(
    st.integers(2, 4).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), max_size=30))),
    st.booleans(),
)
def test_at_most_one_run_gets_the_claim_whatever_the_order_of_calls(
    case: tuple[int, list[int]],
    dags: bool,
) -> None:
    count, order = case
    results = Steps().run(order, count, dags=dags)
    assert Counter(results)[None] <= 1
    assert "unfinished" not in results


def test_runs_that_come_one_after_the_other_give_way_to_the_first() -> None:
    steps = Steps()
    first = claim.Claimant("flights", "run0")
    assert steps.run([0] * 9 + [1] * 9 + [2] * 9, 3) == [None, first, first]


def test_er1_runs_of_several_dags_give_way_to_each_other() -> None:
    steps = Steps()
    first = claim.Claimant("dag0", "run")
    assert steps.run([0] * 9 + [1] * 9 + [2] * 9, 3, dags=True) == [None, first, first]


def test_er1_the_run_that_holds_the_claim_is_looked_for_in_its_own_dag() -> None:
    cells: dict[str, Any] = {}
    store: Any = SimpleNamespace(get=cells.get, set=cells.__setitem__)
    assert claim._other_at_work(store, context("night", "one"), DAY) is None
    other = context("night", "two")
    queries: list[Any] = []

    def count(dag_id: str, run_ids: list[str], states: list[str]) -> int:
        queries.append((dag_id, run_ids, states))
        return 1

    other["ti"].get_dr_count = count
    assert str(claim._other_at_work(store, other, DAY)) == "run night of one"
    assert queries == [("one", ["night"], ["running"])]


def test_the_claim_of_a_run_that_is_over_is_free() -> None:
    cells: dict[str, Any] = {}
    store: Any = SimpleNamespace(get=cells.get, set=cells.__setitem__)
    assert claim._other_at_work(store, context("first"), DAY) is None
    second = context("second")
    assert claim._other_at_work(store, second, DAY) == claim.Claimant("flights", "first")
    second["ti"].get_dr_count = lambda dag_id, run_ids, states: 0
    assert claim._other_at_work(store, second, DAY) is None
    assert claim._other_at_work(store, second, DAY) is None


def test_when_nobody_won_the_door_opens_again(monkeypatch: pytest.MonkeyPatch) -> None:
    lost, lost_too = claim.Claimant("flights", "lost"), claim.Claimant("flights", "lost too")
    cells: dict[str, Any] = {"passed|2013-02-08": claim.note_of(lost), "door|2013-02-08": claim.note_of(lost_too)}
    store: Any = SimpleNamespace(get=cells.get, set=cells.__setitem__)
    assert claim._other_at_work(store, context("later"), DAY) == lost
    monkeypatch.setattr(claim, "_PASSING", timedelta(0))
    assert claim._other_at_work(store, context("later"), DAY) is None


@pytest.mark.parametrize("damage", ["x", 7, [], {}, {"run_id": 7, "dag_id": "a"}, {"dag_id": "a"}])
def test_a_cell_in_which_others_wrote_claims_nothing(damage: Any) -> None:
    form = {"version": 1, **damage} if isinstance(damage, dict) else damage
    cells: dict[str, Any] = {f"{cell}|{DAY}": form for cell in ("claim", "door", "passed")}
    store: Any = SimpleNamespace(get=cells.get, set=cells.__setitem__)
    assert claim._other_at_work(store, context("own"), DAY) is None


def test_a_claim_of_another_release_is_refused() -> None:
    with pytest.raises(UnknownVersionError, match="claim of a partition has version 2; expected 1"):
        claim._running({"version": 2, "run_id": "other"}, context("own"))
