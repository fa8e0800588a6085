"""Whenever a publisher is killed, readers see all of a commit or nothing, and what it left can be cleared away."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from airflow_partitions.storage.scan.snapshot import snapshot
from tests.storage.commit import dying
from tests.storage.commit.publisher import (
    KILLED,
    Publisher,
    Reader,
    check_nothing_left,
    generations,
    problems,
    survive,
)


@pytest.fixture
def readers() -> Iterator[list[Reader]]:
    threads: list[Reader] = []
    yield threads
    for one in threads:
        one.stop.set()
        one.join()


def test_150_failpoints(tmp_path: Path, readers: list[Reader]) -> None:
    killed = {}
    for way in ("folders", "log"):
        for scenario in ("single", "several", "tidy"):
            root = str(tmp_path / f"{way}-{scenario}")
            killed[way, scenario] = survive(root, scenario, Publisher(root), readers)
    assert sum(killed.values()) >= 150, killed


@pytest.mark.parametrize("store", ["folders", "log"])
def test_failpoints_of_several_tables(tmp_path: Path, store: str) -> None:
    root = str(tmp_path / f"tables-{store}")
    files = dying.dataset(root)
    dying.tables(files, 0)
    stop, wrong, looks = threading.Event(), [], []

    def visible_generations() -> set[int]:
        partitions = snapshot(files).values()
        assert [len(partition.files) for partition in partitions] == [2 * len(dying.NAMES)] * 2
        return {generation for partition in partitions for generation in generations(partition)}

    def look() -> None:
        while not stop.is_set():
            generations = visible_generations()
            looks.append(generations)
            if len(generations) != 1:
                wrong.append(generations)
            stop.wait(0.002)

    reader, publisher = threading.Thread(target=look), Publisher(root)
    reader.start()
    generation, outcome, failpoint = 0, KILLED, 0
    while outcome == KILLED:
        failpoint += 1
        outcome = publisher.run("tables", generation + 1, failpoint)
        assert len(visible_generations()) == 1, f"after failpoint {failpoint}"
        generation += 2
        assert publisher.run("tables", generation, 0) == 0
        assert visible_generations() == {generation}
    publisher.end()
    stop.set()
    reader.join()
    assert outcome == 0
    assert failpoint > 30
    assert looks
    assert not wrong
    check_nothing_left(files)


@pytest.mark.parametrize("store", ["folders", "log"])
def test_es10_a_killed_builder_leaves_old_indexes_and_new_ones(
    tmp_path: Path, store: str, readers: list[Reader]
) -> None:
    root = str(tmp_path / f"index-{store}")
    files, publisher = dying.dataset(root), Publisher(root)
    dying.start(files, 0)
    one = Reader(files)
    readers.append(one)
    one.start()
    outcome, failpoint, seen = KILLED, -6, set()
    while outcome == KILLED:
        failpoint += 7
        dying.start(files, failpoint)  # without one
        outcome = publisher.run("index", 0, failpoint)
        indexes = [partition.metadata["index"] for partition in snapshot(files).values()]
        complete = [set(index["value"]["files"]) == {str(failpoint)} for index in indexes if index]
        assert all(complete)
        assert not problems(snapshot(files))
        seen.add(len(complete))
        if outcome == KILLED and failpoint % 5 == 0:
            assert publisher.run("index", 0, 0) == 0
            assert all(partition.metadata["index"] for partition in snapshot(files).values())
    publisher.end()
    one.stop.set()
    one.join()
    assert outcome == 0
    assert {0, 4} < seen
    assert not one.wrong
    check_nothing_left(files)
