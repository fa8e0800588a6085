from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.errors import (
    CheckpointError,
    ConfirmedError,
    InvalidDefinitionError,
    LeaseLostError,
    MissingInputError,
    StorageError,
)
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consuming.batch import up_to_bytes
from airflow_partitions.storage.consuming.checkpoint import REMEMBERED, Checkpoint
from airflow_partitions.storage.consuming.consumer import Consumer

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2013, 2, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    made = Parquet(f"{tmp_path}/lake", partition=DAYS)
    for day in range(1, 6):
        add(made, day)
    return made


def add(files: Parquet, day: int, size: int = 10) -> None:
    folder = Path(files.path_of(DAYS.parse(f"2013-01-{day:02}")))
    folder.mkdir(parents=True)
    (folder / "part-0.parquet").write_bytes(b"x" * size)


def days(*numbers: int) -> list[str]:
    return [f"2013-01-{day:02}" for day in numbers]


def state(files: Parquet, name: str = "default") -> Path:
    """The file that holds the checkpoint now."""
    return max((Path(files.path) / "_consumers" / name).glob("*.json"))


def test_what_was_confirmed_is_not_given_again_and_late_partitions_are(files: Parquet) -> None:
    consumer = Consumer(files)
    consumer.take().confirm()
    assert not consumer.take()
    add(files, 20)
    add(files, 10)
    assert consumer.take().keys == days(10, 20)


def test_a_name_consumes_for_itself(files: Parquet) -> None:
    Consumer(files, "a").take().confirm()
    assert Consumer(files, "b").take().keys == days(1, 2, 3, 4, 5)


def test_a_context_confirms_at_its_end(files: Parquet) -> None:
    with Consumer(files).take() as batch:
        assert [partition.bytes for partition in batch] == [10] * 5
    assert not Consumer(files).take()
    with pytest.raises(ConfirmedError):
        batch.confirm()


def test_a_context_puts_back_on_an_error(files: Parquet) -> None:
    with pytest.raises(ZeroDivisionError), Consumer(files).take(limit=2):
        1 / 0  # noqa: B018
    assert Consumer(files).take().keys == days(1, 2, 3, 4, 5)


def test_what_is_lent_is_offered_to_nobody_else(files: Parquet) -> None:
    first, second = Consumer(files).take(limit=2), Consumer(files).take(limit=2)
    assert (first.keys, second.keys) == (days(1, 2), days(3, 4))
    assert [str(partition.key) for partition in Consumer(files).pending()] == days(5)


def test_a_second_confirmation_is_an_error_in_this_process_and_in_another(files: Parquet) -> None:
    batch = Consumer(files).take()
    batch.confirm()
    with pytest.raises(ConfirmedError, match="was confirmed before; expected one confirmation"):
        batch.confirm()
    with pytest.raises(ConfirmedError, match="confirm it in one place only"):
        Consumer(files).batch(batch.id).confirm()
    with pytest.raises(ConfirmedError):
        batch.put_back()


def test_one_folder_has_one_checkpoint_however_it_is_named(files: Parquet) -> None:
    Consumer(files).take().confirm()
    assert not Consumer(Parquet(f"file://{files.path}", partition=DAYS)).take()


def test_a_batch_goes_on_in_another_process(files: Parquet) -> None:
    taken = Consumer(files).take(limit=2)
    again = Consumer(files).batch(taken.id)
    assert again.keys == taken.keys
    again.confirm()
    assert Consumer(files).batch(taken.id).keys == taken.keys  # also after its confirmation
    with pytest.raises(LeaseLostError, match=r"'nonsense' of .* is lent no longer"):
        Consumer(files).batch("nonsense")


def test_a_removed_partition_is_missed(files: Parquet) -> None:
    taken = Consumer(files).take()
    for file in Path(taken[1].path).iterdir():
        file.unlink()
    Path(taken[1].path).rmdir()
    with pytest.raises(MissingInputError, match="date=2013-01-02"):
        Consumer(files).batch(taken.id)


def test_a_lease_that_is_over_goes_to_the_next_and_its_holder_can_confirm_no_more(files: Parquet, clock: Clock) -> None:
    slow = Consumer(files, lease=timedelta(minutes=15), clock=clock).take()
    clock.now += timedelta(minutes=14, seconds=59)
    assert not Consumer(files, clock=clock).take()
    clock.now += timedelta(seconds=1)
    quick = Consumer(files, clock=clock).take(limit=1)
    before = state(files).read_text()
    with pytest.raises(LeaseLostError, match="what it did is not recorded"):
        slow.confirm()
    with pytest.raises(LeaseLostError):
        slow.renew()
    slow.put_back()
    assert state(files).read_text() == before
    quick.confirm()
    assert Consumer(files, clock=clock).take().keys == days(2, 3, 4, 5)


def test_a_lease_that_is_over_can_be_confirmed_while_nobody_took_over(files: Parquet, clock: Clock) -> None:
    slow = Consumer(files, clock=clock).take()
    clock.now += timedelta(hours=1)
    slow.confirm()
    assert not Consumer(files, clock=clock).take()


def test_a_renewed_lease_lasts_from_then_on(files: Parquet, clock: Clock) -> None:
    batch = Consumer(files, clock=clock).take()
    clock.now += timedelta(minutes=14)
    batch.renew()
    clock.now += timedelta(minutes=14)
    assert not Consumer(files, clock=clock).take()


def test_a_context_renews_its_lease_by_itself(files: Parquet) -> None:
    with Consumer(files, lease=timedelta(seconds=0.3)).take() as batch:
        until = Consumer(files).checkpoint.lease(batch.id).until
        deadline = time.monotonic() + 20
        while Consumer(files).checkpoint.lease(batch.id).until < until + timedelta(seconds=0.6):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert not Consumer(files).take()


def test_a_holder_that_starts_again_gets_what_it_held(files: Parquet) -> None:
    died = Consumer(files, holder="run 1").take(limit=3)
    assert Consumer(files, holder="run 2").take(limit=1).keys == days(4)
    again = Consumer(files, holder="run 1").take(limit=3)
    assert again.keys == days(1, 2, 3)
    with pytest.raises(LeaseLostError):
        died.confirm()
    again.confirm()


def test_limit_and_acceptor(files: Parquet) -> None:
    add(files, 6, size=100)
    consumer = Consumer(files)
    assert consumer.take(accept=up_to_bytes(25)).keys == days(1, 2)
    assert consumer.take(limit=1, accept=up_to_bytes(25)).keys == days(3)
    assert consumer.take(accept=up_to_bytes(25)).keys == days(4, 5)
    assert consumer.take(accept=up_to_bytes(25)).keys == days(6)  # too large, so it comes alone
    with pytest.raises(InvalidDefinitionError, match="limit=0 takes nothing"):
        consumer.take(limit=0)


def test_an_acceptor_that_takes_nothing_lends_nothing(files: Parquet) -> None:
    assert not Consumer(files).take(accept=lambda partitions: False)
    assert not (Path(files.path) / "_consumers").exists()


def test_an_empty_batch_writes_nothing_and_is_confirmed_once(tmp_path: Path) -> None:
    files = Parquet(f"{tmp_path}/none", partition=DAYS)
    batch = Consumer(files).take()
    assert (len(batch), batch.keys, batch.load()) == (0, [], {})
    with batch:
        batch.renew()
    with pytest.raises(ConfirmedError):
        batch.confirm()
    assert not list(tmp_path.iterdir())


def test_times_come_in_their_order_where_texts_do_not(tmp_path: Path) -> None:
    hours = PartitionByInterval("@hourly", timezone="America/New_York", name="hour")
    product = PartitionByProduct([PartitionBySequence(["B", "A"], name="x"), hours])
    files = Parquet(f"{tmp_path}/lake", partition=product)
    for x in "BA":
        for hour in hours.keys("2013-11-03T00:00-04:00", "2013-11-03T03:00-05:00"):
            Path(files.path_of(product.key({"x": x, "hour": hour}))).mkdir(parents=True)
    assert Consumer(files).take().keys == [
        f"{x}|2013-11-03T{hour}" for hour in ("00:00-04:00", "01:00-04:00", "01:00-05:00", "02:00-05:00") for x in "AB"
    ]


class TestMark:
    """With a comparison function, a mark is kept instead of all that was consumed."""

    def consumer(self, files: Parquet, **more: object) -> Consumer:
        return Consumer(files, checkpoint={"comparison_func": "operator.gt"}, **more)  # type: ignore[arg-type]

    def test_it_moves_when_confirmed(self, files: Parquet) -> None:
        self.consumer(files).take(limit=3).confirm()
        checkpoint = Consumer(files).checkpoint
        assert (checkpoint.mark, checkpoint.consumed) == ("2013-01-03", frozenset())
        assert self.consumer(files).take().keys == days(4, 5)

    def test_what_arrives_behind_it_is_left(self, files: Parquet) -> None:
        add(files, 10)
        self.consumer(files).take().confirm()
        add(files, 9)
        add(files, 11)
        assert self.consumer(files).take().keys == days(11)

    def test_it_waits_for_earlier_batches(self, files: Parquet) -> None:
        early, late = self.consumer(files).take(limit=2), self.consumer(files).take(limit=2)
        late.confirm()
        assert Consumer(files).checkpoint.mark is None
        early.put_back()
        last = self.consumer(files).take(limit=1)
        assert last.keys == days(1)
        last.confirm()
        checkpoint = Consumer(files).checkpoint
        assert (checkpoint.mark, checkpoint.consumed) == ("2013-01-01", {"date=2013-01-03", "date=2013-01-04"})
        self.consumer(files).take(limit=1).confirm()
        checkpoint = Consumer(files).checkpoint
        assert (checkpoint.mark, checkpoint.consumed, checkpoint.returned) == ("2013-01-04", frozenset(), frozenset())

    def test_it_does_not_wait_for_what_was_removed(self, files: Parquet) -> None:
        self.consumer(files).take(limit=1).put_back()
        folder = Path(files.path_of(DAYS.parse("2013-01-01")))
        (folder / "part-0.parquet").unlink()
        folder.rmdir()
        self.consumer(files).take().confirm()
        assert Consumer(files).checkpoint.mark == "2013-01-05"

    def test_a_window_is_given_again_and_again(self, files: Parquet) -> None:
        windowed = {"comparison_func": f"{__name__}:same_ten_days"}
        first = Consumer(files, checkpoint=windowed)
        first.take(limit=3).confirm()
        assert first.take().keys == days(4, 5)  # never twice by the same object
        assert Consumer(files, checkpoint=windowed).take().keys == days(1, 2, 3)
        add(files, 15)

    def test_forcing_moves_no_mark_back(self, files: Parquet) -> None:
        self.consumer(files).take().confirm()
        forced = Consumer(files, checkpoint={"comparison_func": "operator.gt", "force_checkpoint": "2013-01-02"}).take(
            limit=1
        )
        assert forced.keys == days(3)
        forced.put_back()
        add(files, 6)
        self.consumer(files).take().confirm()
        assert Consumer(files).checkpoint.mark == "2013-01-06"


def same_ten_days(key: str, checkpoint: str) -> bool:
    return key[:9] >= checkpoint[:9]


class TestForced:
    def test_short_and_full(self, files: Parquet) -> None:
        Consumer(files).take().confirm()
        assert Consumer(files, checkpoint="2013-01-03").take().keys == days(4, 5)
        full = {"force_checkpoint": "2013-01-03", "comparison_func": "operator.ge"}
        assert Consumer(files, "other", checkpoint=full).take().keys == days(3, 4, 5)

    def test_the_empty_text_starts_with_the_first(self, files: Parquet) -> None:
        Consumer(files).take().confirm()
        assert Consumer(files, checkpoint="").take().keys == days(1, 2, 3, 4, 5)

    def test_the_same_object_gives_nothing_twice(self, files: Parquet) -> None:
        consumer, seen = Consumer(files, checkpoint=""), []
        while batch := consumer.take(limit=2):
            seen += batch.keys
            batch.confirm()
        assert seen == days(1, 2, 3, 4, 5)

    def test_what_is_no_key_is_refused(self, files: Parquet) -> None:
        with pytest.raises(CheckpointError, match="'soon' is no key of"):
            Consumer(files, checkpoint="soon").take()


class TestRefused:
    def test_the_checkpoint_of_another_dataset(self, files: Parquet, tmp_path: Path) -> None:
        shared = f"{tmp_path}/state"
        Consumer(files, state=shared).take().confirm()
        other = Parquet(f"{tmp_path}/other", partition=DAYS)
        with pytest.raises(CheckpointError, match=r"is the checkpoint of '.*/lake', not of '.*/other'; give state="):
            Consumer(other, state=shared).take()

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "null ", "3", '{"version": 2}', '{"version": 1, "dataset": 3}'],
    )
    def test_a_damaged_checkpoint(self, files: Parquet, text: str) -> None:
        Consumer(files).take().confirm()
        state(files).write_text(text)
        for use in (lambda c: c.take(), lambda c: c.pending(), lambda c: c.confirm("x"), lambda c: c.checkpoint):
            with pytest.raises(CheckpointError, match=r"_consumers/default' is no checkpoint.*restore it"):
                use(Consumer(files))
        assert state(files).read_text() == text

    @pytest.mark.parametrize("part", ["dataset", "mark", "consumed", "returned", "leases", "confirmed", "version"])
    @pytest.mark.parametrize("value", [5, [5], {"a": 5}, False])
    def test_a_damaged_part(self, files: Parquet, part: str, value: object) -> None:
        Consumer(files).take().confirm()
        form = json.loads(state(files).read_text())
        state(files).write_text(json.dumps(form | {part: value}))
        with pytest.raises(CheckpointError):
            Consumer(files).take()

    @pytest.mark.parametrize(
        "lease",
        [
            {},
            {"holder": "h", "until": "2013-01-01T00:00:00", "partitions": []},
            {"holder": "h", "until": "soon", "partitions": []},
            {"holder": "h", "until": "2013-01-01T00:00:00+00:00", "partitions": 3},
        ],
    )
    def test_a_damaged_lease(self, files: Parquet, lease: object) -> None:
        Consumer(files).take().confirm()
        form = json.loads(state(files).read_text())
        state(files).write_text(json.dumps(form | {"leases": {"x": lease}}))
        with pytest.raises(CheckpointError):
            Consumer(files).take()

    def test_external_data_without_a_place_for_the_state(self, files: Parquet, tmp_path: Path) -> None:
        external = Parquet(files.path, partition=DAYS, external=True)
        with pytest.raises(InvalidDefinitionError, match="nothing is written there; give state="):
            Consumer(external)
        before = sorted(Path(files.path).rglob("*"))
        Consumer(external, state=f"{tmp_path}/state").take().confirm()
        assert sorted(Path(files.path).rglob("*")) == before

    def test_settings(self, files: Parquet) -> None:
        with pytest.raises(InvalidDefinitionError, match="no setting 'comparison'; nearest: 'comparison_func'"):
            Consumer(files, checkpoint={"comparison": "operator.gt"})
        with pytest.raises(InvalidDefinitionError, match=r"'operator\.nothing' can't be imported"):
            Consumer(files, checkpoint={"comparison_func": "operator.nothing"})
        with pytest.raises(InvalidDefinitionError, match="expected a function"):
            Consumer(files, checkpoint={"comparison_func": "sys.path"})
        with pytest.raises(InvalidDefinitionError, match=r"'\.\./x' can't be a file name"):
            Consumer(files, "../x")
        with pytest.raises(InvalidDefinitionError, match="is over before it begins"):
            Consumer(files, lease=timedelta(0))

    def test_a_place_that_can_not_be_written(self, files: Parquet, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(StorageError):
            Consumer(files, state=f"{tmp_path}/file/below").take()


def test_many_batches_are_forgotten_but_their_partitions_stay_consumed(files: Parquet) -> None:
    checkpoint = Checkpoint(files.path)
    consumer = Consumer(files)
    first = consumer.take(limit=1)
    first.confirm()
    for day in range(6, 32):
        add(files, day)
    for _ in range(30):
        consumer.take(limit=1).confirm()
    found = Consumer(files).checkpoint
    assert len(found.consumed) == 31
    assert len(found.confirmed) == 31 <= REMEMBERED
    assert checkpoint.consumed == frozenset()


def test_a_process_killed_while_it_writes_leaves_the_last_whole_checkpoint(files: Parquet) -> None:
    Consumer(files).take(limit=1).confirm()
    before = state(files).read_text()
    code = f"""
import os, signal
from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consuming.consumer import Consumer
os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
days = PartitionByInterval("@daily", start="2013-01-01", name="date")
Consumer(Parquet({files.path!r}, partition=days)).take()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert state(files).read_text() == before
    assert Consumer(files).take().keys == days(2, 3, 4, 5)


def test_old_versions_of_the_checkpoint_are_removed(files: Parquet) -> None:
    for day in range(6, 31):
        add(files, day)
    consumer = Consumer(files)
    for _ in range(20):
        consumer.take(limit=1).confirm()
    folder = state(files).parent
    for old in folder.iterdir():
        os.utime(old, (1, 1))
    consumer.take(limit=1).confirm()
    assert len(list(folder.iterdir())) == 3  # the last one, and both changes of now
    assert len(Consumer(files).checkpoint.consumed) == 21


def test_of_many_changes_at_once_none_is_lost(files: Parquet) -> None:
    for day in range(6, 31):
        add(files, day)
    taken: list[str] = []

    def work() -> None:
        consumer = Consumer(files)
        while batch := consumer.take(limit=1):
            taken.extend(batch.keys)
            batch.confirm()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == days(*range(1, 31))
    assert len(Consumer(files).checkpoint.consumed) == 30
