"""Checks of a plain asset: what fails one is not published."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from airflow.sdk.execution_time.context import OutletEventAccessors

from airflow_partitions import Partition, PartitionByInterval, asset
from airflow_partitions.checks import AcceptedValues, NotNull, RowCount, Unique, ValueRange
from airflow_partitions.core.errors import CheckError, InvalidDefinitionError, StorageError
from airflow_partitions.storage import Parquet

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
DAY = "2013-02-08"


@pytest.fixture
def storage(tmp_path: Path) -> Parquet:
    return Parquet(str(tmp_path / "delays"), partition_on={"date": "%Y-%m-%d"})


class Run:
    """The context of a run, and the XComs that it pushes."""

    def __init__(self, key: str = DAY, number: int = 1) -> None:
        self.pushed: dict[str, Any] = {}
        instance = SimpleNamespace(dag_id="delays", run_id="run", try_number=number, xcom_push=self.pushed.__setitem__)
        self.context: Any = {
            "partition": Partition(DAYS, key),
            "ti": instance,
            "outlet_events": OutletEventAccessors(),
            "dag_run": SimpleNamespace(run_after=datetime(2013, 11, 5, tzinfo=UTC)),
            "dag": SimpleNamespace(tasks=[]),
        }


def declared(storage: Any, checks: Any, frames: list[Any]) -> Any:
    def delays(partition: Any) -> pa.Table:
        return frames.pop(0)

    delays.__qualname__ = delays.__name__
    return asset(schedule="@daily", partition=DAYS, storage=storage, checks=checks)(delays)


def rows(storage: Parquet) -> list[dict[str, Any]]:
    table: pa.Table = storage.of(DAYS).read(DAY, as_="arrow")
    return table.drop(["date"]).to_pylist()


def test_what_fails_a_check_is_not_published_and_stays_for_a_look(storage: Parquet) -> None:
    frames = [
        pl.DataFrame({"origin": ["EWR"], "delay": [1.0]}),
        pl.DataFrame({"origin": ["JFK", None], "delay": [1.0, 2.0]}),
        pl.DataFrame({"origin": ["LGA"], "delay": [3.0]}),
    ]
    delays = declared(storage, [RowCount(at_least=1), NotNull("origin")], frames)
    run = Run()
    delays.task.execute(run.context)
    assert run.context["outlet_events"][delays].extra["checks"] == [
        {"name": "row count", "passed": True, "severity": "error", "expected": "at least 1", "observed": "1 row"},
        {
            "name": "no nulls in origin",
            "passed": True,
            "severity": "error",
            "expected": "no nulls",
            "observed": "none in 1 row",
        },
    ]
    with pytest.raises(CheckError) as failure:
        delays.task.execute(Run(number=2).context)
    message = str(failure.value)
    assert message.startswith(
        "asset 'delays', partition '2013-02-08': 1 of 2 checks failed, so nothing was published; what was written stays"
        f" in {Path(storage.path).parent}/_delays/staging/"
    )
    assert message.endswith(
        " until clean-up:\n  no nulls in origin: 1 failing row of 2; expected no nulls; such as"
        " {'origin': None, 'delay': 2.0, 'date': '2013-02-08'}"
    )
    assert rows(storage) == [{"origin": "EWR", "delay": 1.0}]
    folder = Path(message.partition("stays in ")[2].partition(" until")[0])
    assert sum(pl.read_parquet(file, hive_partitioning=False).height for file in folder.iterdir()) == 2
    delays.task.execute(Run(number=3).context)
    assert rows(storage) == [{"origin": "LGA", "delay": 3.0}]


def test_a_check_that_warns_publishes_and_tells(storage: Parquet, caplog: pytest.LogCaptureFixture) -> None:
    frames = [pl.DataFrame({"origin": [None, "JFK"]})]
    delays = declared(storage, [NotNull("origin", severity="warn"), RowCount(at_most=2)], frames)
    run = Run()
    delays.task.execute(run.context)
    assert rows(storage) == [{"origin": None}, {"origin": "JFK"}]
    assert "Published 2013-02-08, which fails a check: no nulls in origin: 1 failing row of 2" in caplog.text
    assert [check["passed"] for check in run.context["outlet_events"][delays].extra["checks"]] == [False, True]
    assert "None" not in str(run.context["outlet_events"][delays].extra["checks"])  # rows are not for everyone
    assert run.pushed == {"airflow_partitions_failed_checks": "no nulls in origin"}


def test_all_checks_that_fail_are_told_and_what_warns_is_kept(storage: Parquet) -> None:
    checks = [
        RowCount(at_least=3),
        NotNull("origin"),
        ValueRange("delay", at_most=5, severity="warn"),
        Unique("origin"),
    ]
    delays = declared(storage, checks, [pl.DataFrame({"origin": [None, "JFK"], "delay": [9, 1]})])
    with pytest.raises(CheckError, match=r"(?s)2 of 4 checks failed.*row count: 2 rows; .*no nulls") as failure:
        delays.task.execute(Run().context)
    assert "range of delay" not in str(failure.value)
    assert [result.passed for result in failure.value.results] == [False, False, False, True]


def test_a_table_is_checked_by_itself(tmp_path: Path) -> None:
    storage = Parquet(str(tmp_path / "orders"), tables=["head", "items"])
    frame = {"head": pl.DataFrame({"id": [1]}), "items": pl.DataFrame({"id": [1, 1], "price": [2, None]})}
    checks = [Unique("id", table="head"), RowCount(at_least=2, table="items"), NotNull("price", table="items")]
    orders = declared(storage, checks, [frame, {**frame, "items": pl.DataFrame({"id": [1, 1], "price": [2, 3]})}])
    with pytest.raises(CheckError, match="1 of 3 checks failed") as failure:
        orders.task.execute(Run().context)
    assert [each.name for each in failure.value.results] == [
        "head: unique id",
        "items: row count",
        "items: no nulls in price",
    ]
    assert "items: no nulls in price: 1 failing row of 2; expected no nulls; such as {'id': 1, 'price': None" in str(
        failure.value
    )
    orders.task.execute(Run(number=2).context)
    assert len(storage.of(DAYS).table("items").read(DAY, as_="arrow")) == 2
    with pytest.raises(InvalidDefinitionError, match=r"about table none of .*; expected table= as one of head, items"):
        declared(storage, [RowCount(at_least=1)], [])


def test_storage_that_can_not_be_read_is_no_failed_check(storage: Parquet, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.checks import staged_partition

    def unreachable(*_: Any) -> Any:
        raise StorageError("no answer")

    monkeypatch.setattr(staged_partition, "statistics_of", unreachable)
    delays = declared(storage, [NotNull("origin", severity="warn")], [pl.DataFrame({"origin": ["JFK"]})])
    with pytest.raises(StorageError, match="no answer"):
        delays.task.execute(Run().context)
    assert not storage.of(DAYS).exists(DAY)


def test_an_accepted_instant_is_the_same_in_any_zone_also_where_pandera_is_imported(storage: Parquet) -> None:
    import pandera.pandas  # noqa: F401 - with it arrays of pyarrow leave offsets out

    moment = datetime(2013, 2, 8, 17, tzinfo=UTC)
    check = AcceptedValues("at", [moment.astimezone(timezone(timedelta(hours=-5)))])
    declared(storage, [check], [pl.DataFrame({"at": [moment]})]).task.execute(Run().context)
    early = declared(storage, [check], [pl.DataFrame({"at": [moment - timedelta(hours=5)]})])
    with pytest.raises(CheckError, match="1 of 1 checks failed"):
        early.task.execute(Run(number=2).context)
