"""A loop of upkeep goes on while the database is locked for a while."""

from __future__ import annotations

import logging
import sqlite3
from argparse import Namespace
from threading import Event
from typing import Any

import pytest
from sqlalchemy import create_engine, func, select

from airflow_partitions.engine.database.models import Upkeep
from airflow_partitions.operate.cli import upkeep
from tests.metadata import Metadata

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


class Pauses(Event):
    """The pauses of a loop: during the third one somebody lets the database go; at the end of the fifth it ends."""

    def __init__(self, lock: sqlite3.Connection) -> None:
        super().__init__()
        self.lock = lock
        self.seconds: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.seconds.append(timeout)
        if len(self.seconds) == 3:
            self.lock.rollback()
        return len(self.seconds) == 5


def test_en11_a_locked_database_does_not_end_the_loop(
    metadata: Metadata, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from airflow import settings

    impatient = create_engine(metadata.engine.url, connect_args={"timeout": 0.01})
    monkeypatch.setattr(settings, "engine", impatient)
    lock = sqlite3.connect(str(metadata.engine.url.database), isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    end: Any = Pauses(lock)
    with caplog.at_level(logging.WARNING):
        upkeep._loop(Namespace(interval=2.0, output="table", loop=True), end)
    assert end.seconds == [2, 4, 8, 2, 2]
    assert "database is locked" in caplog.text
    assert "can be used again, after 3 failures" in caplog.text
    with impatient.connect() as at:
        assert at.scalar(select(func.count()).where(Upkeep.ended_at.is_not(None))) == 1
    lock.close()
    impatient.dispose()
