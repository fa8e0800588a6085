"""Whenever a publisher is killed, readers see all of a commit or nothing, and what it left can be cleared away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.storage.commit.publisher import Publisher, Reader, survive


@pytest.fixture
def readers() -> Iterator[list[Reader]]:
    made: list[Reader] = []
    yield made
    for one in made:
        one.stop.set()
        one.join()


def test_150_failpoints(tmp_path: Path, readers: list[Reader]) -> None:
    killed = {}
    for way in ("folders", "manifest"):
        for scenario in ("single", "several", "tidy"):
            root = str(tmp_path / f"{way}-{scenario}")
            killed[way, scenario] = survive(root, scenario, Publisher(root), readers)
    assert sum(killed.values()) >= 150, killed
