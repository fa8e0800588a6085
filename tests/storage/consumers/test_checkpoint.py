"""The checkpoint under any order of events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Layout
from airflow_partitions.storage.consumers.checkpoint import Checkpoint, rank
from airflow_partitions.storage.consumers.lease import Lease

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
LAYOUT = Layout(DAYS)
DIRECTORIES = [LAYOUT.directory_of(key) for key in DAYS.keys("2013-01-01", "2013-01-13")]
START = datetime(2013, 2, 1, tzinfo=UTC)

#: What happens, and to which batch or how many partitions; the last adds that many partitions to the dataset.
STEPS = st.lists(
    st.tuples(st.sampled_from(["take", "confirm", "put back", "expire", "arrive"]), st.integers(0, 4)), max_size=40
)


class World:
    """A dataset that grows, and consumers that take what is free, in order."""

    def __init__(self, marked: bool) -> None:
        self.marked = marked
        self.there = 3
        self.now = START
        self.checkpoint = Checkpoint("/lake")
        self.names = count()
        self.confirmed: list[str] = []

    def free(self) -> list[str]:
        watermark = self.checkpoint.watermark
        past = [
            directory
            for directory in DIRECTORIES[: self.there]
            if watermark is None or rank(LAYOUT.key_of(directory)) > rank(DAYS.parse(watermark))
        ]
        return [d for d in past if d not in self.checkpoint.consumed | self.checkpoint.lent]

    def step(self, what: str, number: int) -> None:
        batches = list(self.checkpoint.leases)
        if what == "take" and (partitions := self.free()[: number + 1]):
            lease = Lease("me", self.now + timedelta(minutes=number + 1), tuple(partitions))
            self.checkpoint = self.checkpoint.lend(str(next(self.names)), lease)
        elif what == "confirm" and batches:
            batch = batches[number % len(batches)]
            self.confirmed += self.checkpoint.lease(batch).partitions
            self.checkpoint = self.checkpoint.confirm(batch, LAYOUT if self.marked else None)
        elif what == "put back" and batches:
            self.checkpoint = self.checkpoint.put_back(batches[number % len(batches)])
        elif what == "expire":
            self.now += timedelta(minutes=number)
            self.checkpoint = self.checkpoint.expire(self.now)
        elif what == "arrive":
            self.there = min(self.there + number, len(DIRECTORIES))

    def finish(self) -> None:
        """Consume what is left."""
        self.checkpoint = self.checkpoint.put_back(*self.checkpoint.leases)
        while self.free():
            self.step("take", 4)
            self.step("confirm", 0)


@settings(deadline=None)
@given(st.booleans(), STEPS)
def test_every_partition_is_confirmed_exactly_once_whatever_happens(marked: bool, steps: list[tuple[str, int]]) -> None:
    world = World(marked)
    for what, number in steps:
        world.step(what, number)
        assert len(set(world.confirmed)) == len(world.confirmed)
        assert not world.checkpoint.lent & world.checkpoint.consumed
        assert Checkpoint.load(world.checkpoint.dump(), "here") == world.checkpoint
    world.finish()
    assert sorted(world.confirmed) == DIRECTORIES[: world.there]
    if marked:
        last = LAYOUT.key_of(DIRECTORIES[world.there - 1])
        assert (world.checkpoint.watermark, world.checkpoint.consumed) == (str(last), frozenset())
    else:
        assert sorted(world.checkpoint.consumed) == DIRECTORIES[: world.there]
