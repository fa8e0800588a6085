"""CDAP's partition consumers: only what was added, none twice, several at once. Row C8 of the list."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.errors import LeaseLostError
from airflow_partitions.storage import Files
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.consumers.batch import up_to_bytes
from airflow_partitions.storage.consumers.consumer import Consumer
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.filesystem.filesystem import at, names, sizes
from airflow_partitions.storage.scan.stored_partition import StoredPartition

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")


def records(root: str) -> Files:
    return Files(root, format="text", partition=DAYS)


def add(files: Files, *keys: str, size: int = 10, user: dict[str, int] | None = None) -> None:
    with Commit(files) as commit:
        for key in keys:
            (commit.stage(key) / "part-0").write_text("x" * size)
            commit.put(key, user=user)


def test_c8_only_partitions_added_since_the_last_run(root: str) -> None:
    files = records(root)
    add(files, "2013-01-02", "2013-01-03")
    with Consumer(files).take() as batch:
        assert batch.keys == ["2013-01-02", "2013-01-03"]
        add(files, "2013-01-05")  # while it works
    add(files, "2013-01-01")  # late, but added since
    with Consumer(files).take() as batch:
        assert batch.keys == ["2013-01-01", "2013-01-05"]
    assert not Consumer(files).take()


def test_c8_the_state_is_saved_on_success_and_put_back_on_failure(root: str) -> None:
    files = records(root)
    add(files, "2013-01-01", "2013-01-02")
    with pytest.raises(OSError, match="no disk"), Consumer(files).take():
        raise OSError("no disk")
    assert Consumer(files).checkpoint.consumed == frozenset()
    with Consumer(files).take() as batch:
        assert len(batch) == 2
    assert len(Consumer(files).checkpoint.consumed) == 2
    batch = Consumer(files).take()
    batch.put_back()


def test_c8_the_state_may_be_elsewhere(root: str, tmp_path: Path) -> None:
    files = records(root)
    add(files, "2013-01-01")
    before = sizes(at(root))
    Consumer(files, state=f"{tmp_path}/state").take().confirm()
    assert sizes(at(root)) == before
    assert names(tmp_path / "state") == ["default"]
    assert not Consumer(files, state=f"{tmp_path}/state").take()
    assert Consumer(files).take()


def test_c8_limit_by_count(root: str) -> None:
    files = records(root)
    add(files, "2013-01-01", "2013-01-02", "2013-01-03")
    assert [len(Consumer(files).take(limit=2)) for _ in range(3)] == [2, 1, 0]


def test_c8_limit_by_total_size(root: str) -> None:
    files = records(root)
    add(files, "2013-01-01", "2013-01-02", "2013-01-03", size=100)
    assert Consumer(files).take(accept=up_to_bytes(250)).keys == ["2013-01-01", "2013-01-02"]


def test_c8_limit_by_an_acceptor_that_looks_at_metadata(root: str) -> None:
    files = records(root)
    add(files, "2013-01-01", "2013-01-02", user={"sizeMB": 200})
    add(files, "2013-01-03", user={"sizeMB": 200})

    def up_to_500_mb(partitions: Sequence[StoredPartition]) -> bool:
        return sum(partition.metadata["user"]["sizeMB"] for partition in partitions) <= 500

    assert Consumer(files).take(accept=up_to_500_mb).keys == ["2013-01-01", "2013-01-02"]
    assert Consumer(files).take(accept=up_to_500_mb).keys == ["2013-01-03"]


def test_c8_several_at_once_share_the_work(root: str) -> None:
    files = records(root)
    add(files, "2013-01-01", "2013-01-02", "2013-01-03")
    first, second = Consumer(files).take(limit=2), Consumer(files).take(limit=2)
    assert [*first.keys, *second.keys] == ["2013-01-01", "2013-01-02", "2013-01-03"]
    second.confirm()
    first.put_back()
    with pytest.raises(LeaseLostError):
        first.confirm()
    assert Consumer(files).take().keys == ["2013-01-01", "2013-01-02"]


def test_c8_partitions_of_others_are_consumed_when_they_are_complete(root: str, tmp_path: Path) -> None:
    files = Files(root, format="text", partition=DAYS, ownership="read-only")
    for name in ("date=2013-01-01/part-0", "date=2013-01-01/_SUCCESS", "date=2013-01-02/part-0"):
        place = at(f"{root}/{name}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    marked = Consumer(files, "marked", state=f"{tmp_path}/state", ready=Ready(success_file="_SUCCESS"))
    assert marked.take().keys == ["2013-01-01"]
    later = datetime.now(UTC) + timedelta(minutes=10)
    for clock, expected in ((lambda: datetime.now(UTC), []), (lambda: later, ["2013-01-01", "2013-01-02"])):
        ready = Ready(settled=timedelta(minutes=5))
        assert Consumer(files, "settled", state=f"{tmp_path}/state", ready=ready, clock=clock).take().keys == expected


WORK = """
import sys, time
from datetime import timedelta
from pathlib import Path
from airflow_partitions import PartitionByInterval
from airflow_partitions.core.errors import LeaseLostError
from airflow_partitions.storage import Files
from airflow_partitions.storage.consumers.consumer import Consumer

root, out, seconds = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
days = PartitionByInterval("@daily", start="2013-01-01", name="date")
consumer = Consumer(Files(root, format="text", partition=days), lease=timedelta(seconds=6))
print("ready", flush=True)
idle = 0
while idle < 16:  # longer than the lease
    batch = consumer.take(limit=7)
    if not batch:
        idle += 1
        time.sleep(0.5)
        continue
    idle = 0
    print("took", flush=True)
    time.sleep(seconds)
    try:
        batch.confirm()
    except LeaseLostError:
        continue
    (out / f"{batch.id}.txt").write_text("\\n".join(batch.keys))
"""


def test_c8_four_consumers_of_which_one_is_killed_confirm_every_partition_once(root: str, tmp_path: Path) -> None:
    files = records(root)
    keys = [str(key) for key in DAYS.keys("2013-01-01", "2013-07-01")]
    add(files, *keys)
    out = tmp_path / "out"
    out.mkdir()

    def start(seconds: float) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WORK, root, str(out), str(seconds)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    victim = start(60)  # it dies with a batch in its hands
    assert victim.stdout is not None
    assert [victim.stdout.readline() for _ in range(2)] == ["ready\n", "took\n"]
    others = [start(0.02) for _ in range(3)]
    assert all(process.stdout is not None and process.stdout.readline() == "ready\n" for process in others)
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    for process in others:
        process.communicate(timeout=120)
        assert process.returncode == 0
    batches = [file.read_text().splitlines() for file in out.iterdir()]
    assert Counter(key for batch in batches for key in batch) == Counter(keys)
    assert len(batches) >= len(keys) / 7
    checkpoint = Consumer(files).checkpoint
    assert (len(checkpoint.consumed), checkpoint.leases) == (len(keys), {})
