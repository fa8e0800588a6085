"""What a session is promised on a server of Spark Connect, and what it is then told of its reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.errors import PySparkException

from tests.spark.server.conftest import ATTEMPT, Watched

pytestmark = pytest.mark.spark


def test_the_answer_names_the_version_of_spark(watched: Callable[[], Watched]) -> None:
    session = watched()
    assert session.promise(0, 1) == {"version": 1, "spark": session.spark.version}
    assert session.account == {"executions": 0, "scans": [], "unseen": [], "failure": None}


def test_it_can_be_said_again_but_not_changed(watched: Callable[[], Watched]) -> None:
    session = watched()
    session.promise(0, 1)
    session.promise(0, 1)
    with pytest.raises(PySparkException, match=f"PROMISED_ALREADY .*'{ATTEMPT}'"):
        session.promise(0, 1, 2)
    with pytest.raises(PySparkException, match="PROMISED_ALREADY"):
        session.promise(0, 1, strict=False)
    assert session.read(0, 1).count() == 4


def test_one_of_another_version_is_not_taken(watched: Callable[[], Watched]) -> None:
    session = watched()
    assert session.promise(0, version=2)["version"] == 1
    assert session.read(0, 1, attempt=None).count() == 4


@pytest.mark.parametrize("argument", ["'{'", "'{\"version\": 1}'", "'a', 'b'", "", "rand()"])
def test_nonsense_is_refused(watched: Callable[[], Watched], argument: str) -> None:
    with pytest.raises(PySparkException, match=r"INVALID_PROMISE expected|takes one text"):
        watched().spark.sql(f"select * from airflow_partitions_promise({argument})").collect()


def test_reads_and_writes_are_counted(watched: Callable[[], Watched]) -> None:
    session = watched()
    session.promise(0, 1)
    frame = session.read(0, 1)
    assert frame.count() == 4
    day = (["flights/hour=00", "flights/hour=01"], 2, 4)
    assert session.scans == [day]
    frame.where("origin = 'EWR'").write.parquet(str(session.root / "out"))
    assert session.scans == [day, day]
    assert session.account["executions"] == 2


def test_sessions_do_not_share_an_account(watched: Callable[[], Watched]) -> None:
    one, other = watched(), watched()
    one.promise(0)
    other.promise(1, attempt="run-2")
    assert one.read(0).count() == 2
    assert other.read(1, attempt="run-2").count() == 2
    assert one.scans == [(["flights/hour=00"], 1, 2)]
    assert other.scans == [(["flights/hour=01"], 1, 2)]
    with pytest.raises(PySparkException, match="UNPROMISED_READ"):
        other.read(0).count()
