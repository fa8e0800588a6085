"""How the checkpoint is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.checkpoint import REMEMBERED, Checkpoint
from airflow_partitions.storage.consumers.consumer import Consumer
from tests.storage.consumers.lake import add, days, state


def test_many_batches_are_forgotten_but_their_partitions_stay_consumed(files: Parquet) -> None:
    checkpoint = Checkpoint(files.path)
    consumer = Consumer(files)
    first = consumer.take(limit=1)
    first.confirm()
    for day in range(6, 32):
        add(files, day)
    for _ in range(30):
        consumer.take(limit=1).confirm()
    current = Consumer(files).checkpoint
    assert len(current.consumed) == 31
    assert len(current.confirmed) == 31 <= REMEMBERED
    assert checkpoint.consumed == frozenset()


def test_a_process_killed_while_it_writes_leaves_the_last_whole_checkpoint(files: Parquet) -> None:
    Consumer(files).take(limit=1).confirm()
    before = state(files).read_text()
    code = f"""
import os, signal
from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.consumer import Consumer
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
    keys: list[str] = []

    def work() -> None:
        consumer = Consumer(files)
        while batch := consumer.take(limit=1):
            keys.extend(batch.keys)
            batch.confirm()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(keys) == days(*range(1, 31))
    assert len(Consumer(files).checkpoint.consumed) == 30
