"""What the task of a batch does: one partition after the other, or several by threads."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from threading import Barrier, Event
from time import sleep, time
from typing import Any

import pandas as pd
import pytest
from airflow.sdk import get_current_context
from airflow.sdk.execution_time.context import set_current_context

from airflow_partitions import Partitioned, asset, spark_asset
from airflow_partitions.checks import RowCount
from airflow_partitions.core.errors import (
    InvalidDefinitionError,
    SparkServerError,
    StorageError,
    UnreachableError,
)
from airflow_partitions.engine.batches.outcome import IN_CELL, OUTCOMES, outcomes_from_json
from airflow_partitions.engine.runs.made_beside import MADE_BESIDE
from airflow_partitions.storage import Parquet
from tests.authoring.assets.batched import DAYS, KEYS, batch, declared, one, stored, together
from tests.batch_context import endings, outcomes


def test_each_partition_is_made_with_its_own_counts_in_the_order_of_time(files: Parquet) -> None:
    calls: list[str] = []

    def function(partition: Any) -> pd.DataFrame:
        calls.append(partition.text)
        return one(partition)

    made = declared(function, files)
    context = batch(made, *[key for key in reversed(KEYS) if key != KEYS[3]], own=KEYS[3])
    made.task.execute(context)
    assert calls == KEYS
    assert stored(made) == {key: day for day, key in enumerate(KEYS, start=1)}
    assert endings(context) == dict.fromkeys([key for key in KEYS if key != KEYS[3]], "made")
    assert {key: told.extras["made"]["rows"] for key, told in outcomes(context).items()} == {
        key: day for day, key in enumerate(KEYS, start=1) if key != KEYS[3]
    }
    assert context["outlet_events"][made].extra["rows"] == 4
    attempt = made.storage.get(KEYS[5]).content.metadata.attempt
    assert (attempt.dag_id, attempt.run_id, attempt.number) == ("made", f"run {KEYS[5]}", 1)


def test_what_fails_is_the_outcome_of_one(files: Parquet) -> None:
    def function(partition: Any) -> pd.DataFrame:
        if partition.start.day % 3 == 0:
            raise ValueError(f"not {partition.text}")
        return one(partition)

    made = declared(function, files, checks=[RowCount(at_most=6)])
    context = batch(made, *KEYS[1:])
    made.task.execute(context)
    failed = {key: told.text for key, told in outcomes(context).items() if told.ending == "failed"}
    assert failed.keys() == {KEYS[2], KEYS[5], KEYS[6], KEYS[7]}
    assert failed[KEYS[2]] == f"ValueError: not {KEYS[2]}"
    assert failed[KEYS[6]].startswith("CheckError: ")
    assert stored(made).keys() == set(KEYS) - failed.keys()
    assert set(MADE_BESIDE) == stored(made).keys() - {KEYS[0]}  # what OpenLineage is told
    made.task.execute(batch(made, own=KEYS[1]))
    assert MADE_BESIDE == {}


@pytest.mark.parametrize("several", [False, True])
def test_what_was_made_by_hand_already_is_skipped_with_the_reason(files: Parquet, several: bool) -> None:
    made = declared(together if several else one, files)
    context = batch(made, *KEYS[1:4], skips={KEYS[2]: "made already"})
    made.task.execute(context)
    assert endings(context) == {KEYS[1]: "made", KEYS[2]: "skipped", KEYS[3]: "made"}
    assert outcomes(context)[KEYS[2]].text == "made already"
    assert set(stored(made)) == {*KEYS[:2], KEYS[3]}


def test_what_earlier_tries_left_fails_nothing_that_is_published(
    files: Parquet, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def clean(storage: Parquet) -> None:
        raise StorageError(f"{storage.path!r} can't be cleaned up: busy")

    monkeypatch.setattr("airflow_partitions.engine.runs.publication.clean", clean)
    made = declared(one, files)
    context = batch(made, KEYS[1])
    made.task.execute(context)
    assert stored(made) == {KEYS[0]: 1, KEYS[1]: 2}
    assert endings(context) == {KEYS[1]: "made"}
    words = [message for message in caplog.messages if "what earlier tries left stays" in message]
    assert [message[:20] for message in words] == [f"Published {KEYS[0]}"], "not after each"
    assert words[0].endswith("can't be cleaned up: busy")


def test_storage_is_cleaned_up_now_and_then_however_much_is_published(
    files: Parquet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a look at each partition that is stored."""
    cleaned: list[str] = []
    monkeypatch.setattr(
        "airflow_partitions.engine.runs.publication.clean", lambda storage: cleaned.append(storage.path)
    )
    made = declared(one, files)
    made.task.execute(batch(made, *KEYS[1:5]))
    assert cleaned == [files.path]
    made.task.execute(batch(made, own=KEYS[5]))
    assert cleaned == [files.path]
    (mark,) = tmp_path.glob("_made/cleaned")
    moment = time() - 601
    os.utime(mark, (moment, moment))
    made.task.execute(batch(made, *KEYS[6:7], own=KEYS[7]))
    assert cleaned == [files.path] * 2


def test_what_fails_of_its_own_is_raised_once_the_others_are_made(files: Parquet) -> None:
    def function(partition: Any) -> pd.DataFrame:
        if partition.text == KEYS[0]:
            raise ValueError("mine")
        return one(partition)

    made = declared(function, files)
    context = batch(made, *KEYS[1:4])
    with pytest.raises(ValueError, match="mine"):
        made.task.execute(context)
    assert endings(context) == dict.fromkeys(KEYS[1:4], "made")


@pytest.mark.parametrize("fault", [MemoryError, SparkServerError, UnreachableError])
@pytest.mark.parametrize("wrapped", [False, True])
def test_what_is_nobodys_fault_ends_the_batch_and_the_next_try_goes_on(
    files: Parquet, fault: type[Exception], wrapped: bool
) -> None:
    calls: list[str] = []

    def function(partition: Any) -> pd.DataFrame:
        calls.append(partition.text)
        if partition.text == KEYS[2] and len(calls) == 3:
            if wrapped:
                raise ValueError("of my own") from fault("away")
            raise fault("away")
        return one(partition)

    made = declared(function, files)
    context = batch(made, *KEYS[1:5])
    with pytest.raises(ValueError if wrapped else fault):
        made.task.execute(context)
    assert endings(context) == {KEYS[1]: "made"}
    assert stored(made).keys() == set(KEYS[:2])
    context = batch(made, cells=context["task_state_store"])
    made.task.execute(context)
    assert calls == [*KEYS[:3], KEYS[0], *KEYS[2:5]]
    assert endings(context) == dict.fromkeys(KEYS[1:5], "made")


def test_a_server_that_is_away_is_not_asked_again_in_halves(files: Parquet) -> None:
    calls: list[int] = []

    def function(partitions: list[Any]) -> pd.DataFrame:
        calls.append(len(partitions))
        raise SparkServerError("away") if len(calls) > 1 else MemoryError

    made = declared(function, files)
    context = batch(made, *KEYS[1:])
    with pytest.raises(SparkServerError, match="away"):
        made.task.execute(context)
    assert calls == [8, 4]
    assert endings(context) == {}


def test_another_try_goes_on_and_takes_over_what_was_published_and_not_told(files: Parquet) -> None:
    calls: list[str] = []

    def function(partition: Any) -> pd.DataFrame:
        calls.append(partition.text)
        if partition.text == KEYS[4] and len(calls) < 6:
            raise KeyboardInterrupt  # as when the process is ended
        return one(partition)

    made = declared(function, files)
    context = batch(made, *KEYS[1:])
    with pytest.raises(KeyboardInterrupt):
        made.task.execute(context)
    store = context["task_state_store"]
    for name in [name for name in store if name.startswith(OUTCOMES)]:
        del store[name]  # it was killed before it could tell
    context = batch(made, cells=store)
    made.task.execute(context)
    assert calls == [*KEYS[:5], KEYS[0], *KEYS[4:]]
    assert endings(context) == dict.fromkeys(KEYS[1:], "made")
    assert outcomes(context)[KEYS[2]].extras["made"]["rows"] == 3


def test_a_run_that_others_have_ended_is_left_alone(files: Parquet, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.engine.batches import work

    monkeypatch.setattr(work, "_LOOK_EVERY", 0)
    made = declared(one, files)
    context = batch(made, *KEYS[1:4])
    context["ti"].ended.add(f"run {KEYS[2]}")
    made.task.execute(context)
    assert endings(context) == {KEYS[1]: "made", KEYS[3]: "made"}


def test_outcomes_are_told_a_hundred_to_a_cell(files: Parquet) -> None:
    made = declared(one, files)
    days = [f"2014-{month:02}-{day:02}" for month in range(1, 11) for day in range(1, 26)]
    context = batch(made, *days)
    made.task.execute(context)
    cells = [len(outcomes_from_json(context["task_state_store"][f"{OUTCOMES}{number}"])) for number in range(3)]
    assert cells == [IN_CELL, IN_CELL, len(days) - 2 * IN_CELL]


def test_each_partition_has_the_current_context_of_its_own_run(files: Parquet) -> None:
    seen: dict[str, str] = {}

    def function(partition: Any) -> pd.DataFrame:
        seen[partition.text] = get_current_context()["dag_run"].run_id
        return one(partition)

    made = declared(function, files)
    with set_current_context(batch(made, *KEYS[1:4])) as context:  # type: ignore[arg-type]
        made.task.execute(context)
    assert seen == {KEYS[0]: "leader"} | {key: f"run {key}" for key in KEYS[1:4]}


def test_threads_make_several_at_a_time_each_with_its_own_context_and_section(
    storage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    together, seen = Barrier(4), dict[str, str]()

    def function(partition: Any) -> pd.DataFrame:
        logging.getLogger("mine").info("begins %s", partition.text)
        together.wait(60)  # four at a time, or none
        if partition.text == KEYS[5]:
            raise ValueError("five")
        context = get_current_context()
        seen[partition.text] = f"{context['dag_run'].run_id} {context['partition'].text}"
        logging.getLogger("mine").info("ends %s", partition.text)
        return pd.DataFrame({"date": [partition.start.date()] * partition.start.day, "n": range(partition.start.day)})

    made = declared(function, storage, threads=4)
    with set_current_context(batch(made, *KEYS[1:])) as context:  # type: ignore[arg-type]
        made.task.execute(context)
    assert stored(made) == {key: day for day, key in enumerate(KEYS, start=1) if key != KEYS[5]}
    assert endings(context) == {key: "failed" if key == KEYS[5] else "made" for key in KEYS[1:]}
    assert {key: told.extras["made"]["rows"] for key, told in outcomes(context).items() if told.ending == "made"} == {
        key: day for day, key in enumerate(KEYS, start=1) if key not in (KEYS[0], KEYS[5])
    }
    assert context["outlet_events"][made].extra["rows"] == 1
    assert seen == {key: f"{'leader' if key == KEYS[0] else f'run {key}'} {key}" for key in KEYS if key != KEYS[5]}
    sections = "\n".join(caplog.messages).split("::group::Partition ")[1:]
    assert sorted(section[:10] for section in sections) == KEYS
    for section in sections:
        own, _, after = section.partition("::endgroup::")
        assert {key for key in KEYS if key in own} == {section[:10]}
        assert f"begins {section[:10]}" in own
        assert "begins" not in after


def test_what_is_nobodys_fault_lets_no_other_thread_begin(files: Parquet) -> None:
    calls: list[str] = []
    away = Event()

    def function(partition: Any) -> pd.DataFrame:
        calls.append(partition.text)
        if partition.text == KEYS[1]:
            away.set()
            raise MemoryError
        assert away.wait(60)
        sleep(0.5)  # so that the other one is told first
        return one(partition)

    made = declared(function, files, threads=2)
    context = batch(made, *KEYS[1:])
    with pytest.raises(MemoryError):
        made.task.execute(context)
    assert len(calls) < len(KEYS) - 2
    assert stored(made).keys() == set(calls) - {KEYS[1]}  # what was at work has ended
    assert endings(context) == dict.fromkeys(set(calls) - set(KEYS[:2]), "made")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batch": 1}, "without batch= a task makes one partition"),
        ({"past": 1}, "with past=1 each partition needs the one before it"),
        ({"threads": 0}, "from 1 to 64"),
        ({"threads": "4"}, "from 1 to 64"),
        ({"threads": True}, "from 1 to 64"),
        ({"threads": 65}, "from 1 to 64"),
    ],
)
def test_threads_that_make_no_sense_are_an_import_error(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=rf"threads=.*: .*{words}"):
        asset(**{"schedule": None, "partition": DAYS, "batch": 10, "threads": 4, **options})(one)


def test_threads_are_for_functions_over_one_partition_in_the_task(files: Parquet) -> None:
    from airflow.sdk import task

    with pytest.raises(InvalidDefinitionError, match="all of a batch by one call, and has threads=4; expected one"):
        declared(together, files, threads=4)
    with pytest.raises(InvalidDefinitionError, match="decorated by @task, which makes one partition"):
        asset(schedule=None, partition=DAYS, batch=10, threads=4)(task(one))
    with pytest.raises(InvalidDefinitionError, match="threads=4: jobs of Spark don't run side by side in one process"):
        spark_asset(schedule=None, partition=DAYS, storage=files, batch=10, threads=4)(one)


@pytest.mark.parametrize("size", [0, -1, 2_001, True, "10", "Auto", 1.5])
def test_the_size_is_a_number_of_partitions(size: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="that one task makes, from 1 to 2,000"):
        Partitioned(None, DAYS, batch=size)


def test_a_dag_that_can_have_no_batch_is_an_import_error() -> None:
    from airflow.exceptions import AirflowClusterPolicyViolation

    from airflow_partitions.engine.cluster_policy import dag_policy

    def function() -> None: ...

    function.__qualname__ = function.__name__
    for options, words in (
        ({"max_active_runs": 3}, "expected max_active_runs=1"),
        ({"on_success_callback": print}, "on_success_callback, which Airflow calls for the run of a task alone"),
        ({"default_args": {"on_success_callback": print}}, "on_success_callback"),
    ):
        made = asset(schedule=None, partition=DAYS, batch=10, **options)(function)
        with pytest.raises(AirflowClusterPolicyViolation, match=words):
            dag_policy(made.task.dag)
    dag_policy(asset(schedule=None, partition=DAYS, batch=10)(function).task.dag)
