"""Consumers of one dataset that take, confirm and give back in whatever order: each partition is confirmed once."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from airflow_partitions.core.errors import ConfirmedError, LeaseLostError, MissingInputError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage import Batch, Commit, Consumer, Parquet, up_to_bytes
from airflow_partitions.storage.consumers.checkpoint import Checkpoint, rank
from tests.hunt import effort
from tests.storage.consumers.lake import Clock
from tests.storage.lakes import LAKES
from tests.storage.model import failing


@attrs.define
class BatchRecord:
    """A batch that was taken, and what should be known of it."""

    batch: Batch
    keys: list[Key]
    holder: str | None
    lease: timedelta
    until: datetime
    forced: bool = False
    state: str = "lent"  # or "lost", "confirmed"


class ConsumerMachine(RuleBasedStateMachine):
    """Four consumers that share a checkpoint; two of them are tries of one task."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = Clock()
        self.stored_keys: set[Key] = set()
        self.consumed: set[Key] = set()
        self.confirmed: Counter[Key] = Counter()
        self.batches: list[BatchRecord] = []

    @initialize(
        name=st.sampled_from(["hours", "product", "runtime", "tuples"]), log=st.booleans(), marked=st.booleans()
    )
    def begin(self, name: str, log: bool, marked: bool) -> None:
        self.lake, self.marked = LAKES[name], marked
        self.files = Parquet(
            f"{self.folder}/lake",
            partition=self.lake.definition,
            partition_on=self.lake.columns,
            log=f"{self.folder}/log" if log else None,
        )
        self.coming = sorted(self.lake.keys, key=rank)
        self.consumers = [self.consumer(15), self.consumer(40), self.consumer(15, "task"), self.consumer(30, "task")]

    def consumer(self, minutes: int, holder: str | None = None, **more: Any) -> Consumer:
        if self.marked:
            more = {"checkpoint": {"comparison_func": "operator.gt"}, **more}
        return Consumer(self.files, lease=timedelta(minutes=minutes), holder=holder, clock=self.clock, **more)

    def teardown(self) -> None:
        try:
            if hasattr(self, "lake"):
                self.finish()
        finally:
            shutil.rmtree(self.folder)

    def finish(self) -> None:
        """All that is lent comes back in time, and is consumed."""
        self.clock.now += timedelta(days=1)
        last = self.consumer(1)
        while batch := last.take(limit=2):
            self.confirmed.update(partition.key for partition in batch)
            batch.confirm()
        assert self.stored_keys <= self.confirmed.keys()
        assert set(self.confirmed.values()) <= {1}

    # partitions come and go

    @rule(data=st.data(), rows=st.integers(0, 2000))
    @precondition(lambda self: self.coming)
    def arrive(self, data: st.DataObject, rows: int) -> None:
        """Some partitions are published; where a mark is kept in their order."""
        count = data.draw(st.integers(1, 3))
        late = [] if self.marked else data.draw(st.lists(st.sampled_from(self.coming), max_size=2, unique=True))
        new = late or self.coming[:count]
        self.files.save({str(key): pa.table({"n": pa.array(range(rows), pa.int64())}) for key in new})
        self.coming = [key for key in self.coming if key not in new]
        self.stored_keys |= set(new)

    @rule(data=st.data())
    @precondition(lambda self: self.stored_keys)
    def overwrite(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.stored_keys, key=rank)))
        self.files.save({str(key): pa.table({"n": [1]})}, mode="overwrite")

    @rule(data=st.data())
    @precondition(lambda self: self.stored_keys)
    def drop(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.stored_keys, key=rank)))
        with Commit(self.files) as commit:
            commit.drop(key)
        self.stored_keys.remove(key)
        if not self.marked:
            self.coming.append(key)

    @rule(minutes=st.sampled_from([1, 14, 15, 40]))
    def wait(self, minutes: int) -> None:
        self.clock.now += timedelta(minutes=minutes)

    # consumers work

    def free(self, holder: str | None, start: Key | None = None) -> list[Key]:
        """What can be taken by *holder*, from after *start* whatever was consumed."""
        busy = {
            key
            for record in self.batches
            if record.state == "lent" and record.until > self.clock.now and (holder is None or record.holder != holder)
            for key in record.keys
        }
        free_keys = (
            self.stored_keys - self.consumed
            if start is None
            else {k for k in self.stored_keys if rank(k) > rank(start)}
        )
        return sorted(free_keys - busy, key=rank)

    def lend(self, consumer: Consumer, holder: str | None, expected: list[Key], **limits: Any) -> BatchRecord | None:
        batch = consumer.take(**limits)
        assert [partition.key for partition in batch] == expected
        if not expected:
            return None
        for record in self.batches:
            over = record.until <= self.clock.now or (holder is not None and record.holder == holder)
            if record.state == "lent" and over:
                record.state = "lost"
        self.batches.append(BatchRecord(batch, expected, holder, consumer.lease, self.clock.now + consumer.lease))
        return self.batches[-1]

    @rule(which=st.integers(0, 3), limit=st.none() | st.integers(1, 4), most=st.none() | st.integers(1, 20_000))
    def take(self, which: int, limit: int | None, most: int | None) -> None:
        consumer, holder = self.consumers[which], "task" if which >= 2 else None
        expected = self.free(holder)[:limit]
        if most is not None:
            count, total = 0, 0
            for key in expected:
                total += self.files.get_many([key])[key].bytes
                if count and total > most:
                    break
                count += 1
            expected = expected[:count]
        self.lend(consumer, holder, expected, limit=limit, accept=None if most is None else up_to_bytes(most))

    @rule(data=st.data())
    @precondition(lambda self: self.stored_keys and not self.marked)
    def take_forced(self, data: st.DataObject) -> None:
        """Whatever was consumed after some key is consumed once more."""
        start = data.draw(st.sampled_from(self.lake.keys))
        consumer = self.consumer(20, checkpoint=str(start))
        record = self.lend(consumer, None, self.free(None, start)[:3], limit=3)
        if record is not None:
            record.forced = True
            record.batch.confirm()
            self.confirm(record)
            rest = [key for key in self.free(None, start) if key not in record.keys]
            assert [partition.key for partition in consumer.pending()] == rest  # this object gives nothing twice

    def drawn(self, data: st.DataObject) -> BatchRecord:
        return data.draw(st.sampled_from(self.batches[-3:]))

    @rule(data=st.data(), elsewhere=st.booleans(), fails=st.booleans())
    @precondition(lambda self: self.batches)
    def work(self, data: st.DataObject, elsewhere: bool, fails: bool) -> None:
        """A batch is worked on, perhaps by another process, and perhaps for nothing."""
        record = self.drawn(data)
        batch = record.batch
        if elsewhere:
            missing = not set(record.keys) <= self.stored_keys
            errors = [LeaseLostError] if record.state == "lost" else [MissingInputError] if missing else []
            with failing(errors):
                batch = self.consumers[0].batch(batch.id)
                assert [partition.key for partition in batch] == record.keys
            if errors:
                return
        if record.state != "lent":
            with failing([ConfirmedError if record.state == "confirmed" else LeaseLostError]):
                batch.confirm()
            return
        with failing([ZeroDivisionError] if fails else []), batch:
            if fails:
                raise ZeroDivisionError
        if fails:
            record.state = "lost"
        else:
            self.confirm(record)

    def confirm(self, record: BatchRecord) -> None:
        record.state = "confirmed"
        self.confirmed.update(key for key in record.keys if not record.forced or key not in self.consumed)
        self.consumed |= set(record.keys)

    @rule(data=st.data())
    @precondition(lambda self: self.batches)
    def put_back(self, data: st.DataObject) -> None:
        record = self.drawn(data)
        with failing([ConfirmedError] if record.state == "confirmed" else []):
            record.batch.put_back()
            record.state = "lost"

    @rule(data=st.data())
    @precondition(lambda self: self.batches)
    def renew(self, data: st.DataObject) -> None:
        record = self.drawn(data)
        errors: dict[str, list[type[BaseException]]] = {"lost": [LeaseLostError], "confirmed": [ConfirmedError]}
        with failing(errors.get(record.state, [])):
            record.batch.renew()
            record.until = self.clock.now + record.lease

    @invariant()
    def offers(self) -> None:
        """Each is offered what it could take."""
        if not hasattr(self, "lake"):
            return
        for consumer, holder in zip(self.consumers, (None, None, "task", "task"), strict=True):
            assert [partition.key for partition in consumer.pending()] == self.free(holder)
        checkpoint = self.consumers[0].checkpoint
        assert Checkpoint.load(checkpoint.dump(), "here") == checkpoint
        assert set(self.confirmed.values()) <= {1}


TestConsumers = ConsumerMachine.TestCase
TestConsumers.settings = effort(25, 25)
