"""Publishers that are killed, or many at once: readers see all of a partition or what was there before."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.hunt import HUNT
from tests.storage.iceberg.publisher import Publisher, Reader, problems, publish
from tests.storage.iceberg.tables import DAYS, numbers, store_of

KEYS = [str(key) for key in DAYS.keys("2013-01-01", "2013-01-09")]
#: How often a publisher is killed.
_KILLS = 10 if HUNT == 1 else 60


@pytest.mark.parametrize("waits", [True, False])
def test_publishers_of_different_keys_all_succeed(tmp_path: Path, waits: bool) -> None:
    store = store_of(tmp_path, DAYS)
    for key in KEYS:
        publish(store, key, 0)
    rounds = 4 if HUNT > 1 else 2 if waits else 1
    publishers = [Publisher(tmp_path, key, range(1, rounds + 1), waits=waits) for key in KEYS]
    reader = Reader(store, KEYS)
    for publisher in publishers:
        publisher.wait()
    reader.start()
    for publisher in publishers:
        publisher.go()
    outcomes = [outcome for publisher in publishers for outcome in publisher.end()]
    reader.stop.set()
    reader.join()
    assert outcomes == ["published"] * rounds * len(KEYS)
    assert (reader.wrong, problems(store, KEYS)) == ([], [])
    assert reader.looks
    assert set(numbers(store)) == {rounds}
    assert len(store.table.load().snapshots()) == (rounds + 1) * len(KEYS)


@pytest.mark.parametrize("waits", [True, False])
def test_of_many_writers_of_one_key_one_succeeds(tmp_path: Path, waits: bool) -> None:
    store = store_of(tmp_path, DAYS)
    publish(store, KEYS[0], 0)
    publishers = [Publisher(tmp_path, KEYS[0], [number], begun=True, waits=waits) for number in range(1, 9)]
    for publisher in publishers:
        publisher.wait()
    for publisher in publishers:
        publisher.go()
    outcomes = [outcome for publisher in publishers for outcome in publisher.end()]
    assert sorted(outcomes) == ["published"] + ["refused"] * 7
    assert set(numbers(store)) == {outcomes.index("published") + 1}
    assert len(store.table.load().snapshots()) == 2


def test_whenever_a_publisher_is_killed_readers_see_all_or_nothing(tmp_path: Path) -> None:
    store, key = store_of(tmp_path, DAYS), KEYS[0]
    begun = time.monotonic()
    publish(store, key, 0)
    length = time.monotonic() - begun
    reader = Reader(store, [key])
    reader.start()
    for number in range(1, _KILLS + 1):
        publisher = Publisher(tmp_path, key, range(number * 10_000, number * 10_000 + 5000))
        publisher.wait()
        publisher.go()
        time.sleep(length * random.uniform(0, 3))
        publisher.kill()
        assert problems(store, [key]) == []
        publish(store, key, number)  # nothing that is left over stands in the way
        assert set(numbers(store)) == {number}
    reader.stop.set()
    reader.join()
    assert reader.wrong == []
    assert reader.looks > _KILLS
