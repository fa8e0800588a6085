"""What upkeep knows of all Dags together, as they are serialized in a real metadata database."""

from __future__ import annotations

import json
import textwrap
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import pytest
from sqlalchemy import delete, insert, update
from sqlalchemy.event import listen, remove

from airflow_partitions import KeyFormat, PartitionByInterval
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.graph.serialized_dags import SerializedDagReader, read_serialized_dags
from airflow_partitions.operate.cli.doctor import examine
from airflow_partitions.operate.upkeep import Upkeep, one_round
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

DAYS = PartitionByInterval("@daily")
WAITING = """
@asset(schedule=Asset.ref(name="{upstream}"), upstreams={{"{upstream}": DAYS}}, partition=DAYS)
def {name}(): ...
"""


def test_dags_of_several_files_that_wait_for_each_other_are_told_once(metadata: Metadata, tmp_path: Path) -> None:
    files = {"one": "three", "two": "one", "three": "two", "after": "three", "before": "nobody"}
    metadata.parse(tmp_path, **{name: WAITING.format(name=name, upstream=of) for name, of in files.items()})
    (problem,) = read_serialized_dags().problems
    assert "waits for itself" in problem
    for part in ("asset 'one' of one", "asset 'two' of two", "asset 'three' of three", "as an input instead"):
        assert part in problem
    assert "after" not in problem
    assert one_round().problems == (problem,)
    metadata.parse(tmp_path, three=WAITING.format(name="three", upstream="nobody"))
    assert read_serialized_dags().problems == ()


def test_er5_a_dag_that_waits_for_an_event_without_a_key_in_vain_is_told(metadata: Metadata, tmp_path: Path) -> None:
    writes = """
        with DAG("writes", schedule=Partitioned("@daily", DAYS)):
            EmptyOperator(task_id="write", outlets=[Asset("beside")])
        """
    waits = """
        with DAG("waits", schedule=Asset("beside")):
            EmptyOperator(task_id="nothing")
        """
    metadata.parse(tmp_path, writes=writes, waits=waits)
    (problem,) = read_serialized_dags().problems
    assert problem.startswith("waits has no partitions, but waits for asset 'beside', which writes writes")
    assert one_round().problems == (problem,)


MADE = """
from typing import Annotated
import polars as pl
from airflow_partitions.storage import Csv, Parquet

@asset(schedule="@daily", partition=PartitionByInterval("@daily", name="day"), storage={storage}("{lake}/fares"))
def fares() -> {frame}: ...
"""
READ = """
from typing import Annotated
import polars as pl
from airflow_partitions.storage import Parquet

NAMED = PartitionByInterval("@daily", name="day")

@asset(schedule="@daily", partition=NAMED, inputs={{"trips": Parquet("{lake}/fares", partition=NAMED)}})
def report(trips: {frame}): ...
"""


def test_f5_what_a_reader_in_another_file_does_not_find_is_told(
    metadata: Metadata, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def problems(made: str, read: str, storage: str = "Parquet") -> tuple[str, ...]:
        made_file = MADE.format(frame=made, storage=storage, lake=tmp_path)
        metadata.parse(tmp_path, made=made_file, read=READ.format(frame=read, lake=tmp_path))
        return read_serialized_dags().problems

    both = 'Annotated[pl.DataFrame, {"zone": str, "fare": float}]'
    assert problems(both, 'Annotated[pl.DataFrame, ["fare", "day"]]') == ()
    assert problems(both, "pl.DataFrame") == ()
    assert problems("pl.DataFrame", 'Annotated[pl.DataFrame, ["fair"]]') == ()
    (problem,) = problems(both, 'Annotated[pl.DataFrame, ["fair"]]')
    assert problem == (
        "asset 'report' can't read its input 'trips' from what asset 'fares' stores, so what one of the two functions"
        f" is annotated as has to change: there is no column 'fair' in '{tmp_path}/fares'; did you mean 'fare'?"
    )
    assert one_round().problems == (problem,)
    with pytest.raises(SystemExit, match="1"):
        examine(Namespace(output="json", url=None, connection=None))
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["problems"] == [problem]
    (problem,) = problems(both, 'Annotated[pl.DataFrame, {"fare": int}]')
    assert f"column 'fare' is double in '{tmp_path}/fares'; expected that, and not bigint" in problem
    (problem,) = problems(both, "pl.DataFrame", storage="Csv")
    assert f"its format is 'parquet', and that of '{tmp_path}/fares' is 'csv'; expected the same" in problem


def test_an_upstream_that_nobody_makes_is_told(metadata: Metadata, tmp_path: Path) -> None:
    source = "@asset(schedule=Asset.ref(name='nothing'), partition=DAYS)\ndef lonely(): ...\n"
    metadata.parse(tmp_path, lonely=source)
    (problem,) = read_serialized_dags().problems
    assert problem.startswith("Dag 'lonely': no Dag makes partitions of the asset 'nothing'; expected")
    assert one_round().problems == (problem,)


def test_what_the_keys_of_an_asset_mean_is_the_producers_word_and_else_a_consumers(
    metadata: Metadata, tmp_path: Path
) -> None:
    metadata.parse(
        tmp_path,
        made="""
        @asset(schedule="@daily", partition=DAYS)
        def made(): ...
        """,
        waiting="""
        HOURS = PartitionByInterval("@hourly")

        @asset(schedule=Asset.ref(name="made") & Asset("gas") & Asset("oil"), partition=DAYS,
               upstreams={"made": HOURS, "gas": KeyFormat(HOURS), "oil": HOURS})
        def waiting(): ...
        """,
    )
    dags, hours = read_serialized_dags(), PartitionByInterval("@hourly")
    assert dags.problems == ()
    assert dags.definition("made") == DAYS
    assert dags.definition("gas") == KeyFormat(hours)
    assert dags.definition("oil") == hours
    with pytest.raises(InvalidDefinitionError, match="asset 'mad'; nearest: made"):
        dags.definition("mad")


MANY = """
for number in range(5):
    hours = Asset(f"hours_{number}")
    with DAG(f"hours_{number}", schedule=Partitioned("@hourly", HOURS, asset=hours)):
        EmptyOperator(task_id="make", outlets=[hours])
    days = Asset(f"days_{number}")
    with DAG(f"days_{number}", schedule=Partitioned(Asset.ref(name=f"hours_{number}"), DAYS, asset=days)):
        EmptyOperator(task_id="make", outlets=[days])
with DAG("plain", schedule="@daily"):
    EmptyOperator(task_id="make")
"""


@contextmanager
def forms_read(metadata: Metadata) -> Iterator[list[Any]]:
    """The parameters of the questions for serialized Dags."""
    questions: list[Any] = []

    def remember(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        if "serialized_dag.data" in statement:
            questions.append(parameters)

    listen(metadata.engine, "before_cursor_execute", remember)
    try:
        yield questions
    finally:
        remove(metadata.engine, "before_cursor_execute", remember)


def test_d5_an_idle_round_fetches_no_serialized_dag(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.dag import DagModel

    metadata.parse(tmp_path, many='HOURS = PartitionByInterval("@hourly")\n' + textwrap.dedent(MANY))
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    work = Upkeep(wait=True)
    with forms_read(metadata) as questions:
        work.round()
    assert len(questions) == 1
    with forms_read(metadata) as questions:
        for _ in range(3):
            assert work.round().idle
    assert questions == []


def test_d5_of_dags_that_changed_these_alone_are_read_and_others_see_it(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.asset import TaskOutletAssetReference
    from airflow.models.dag import DagModel

    made = '@asset(schedule="@daily", partition={})\ndef made(): ...\n'
    metadata.parse(
        tmp_path,
        made=made.format("DAYS"),
        waits='@asset(schedule=Asset.ref(name="made"), partition=PartitionByInterval("@weekly"))\ndef waits(): ...\n',
    )
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    reader = SerializedDagReader()
    before = reader.read()
    assert before.definition("made") == DAYS
    metadata.parse(tmp_path, made=made.format('PartitionByInterval("@hourly")'))
    with forms_read(metadata) as questions:
        after = reader.read()
    assert len(questions) == 1
    values = questions[0].values() if isinstance(questions[0], dict) else questions[0]
    assert list(values) == ["made"]
    hours = PartitionByInterval("@hourly")
    assert after.definition("made") == hours
    upstreams = after.consumers["waits"].upstreams
    assert upstreams is not None
    assert upstreams.member("made").definition == hours
    assert attrs.evolve(after, consumers={}) == attrs.evolve(read_serialized_dags(), consumers={})
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).where(DagModel.dag_id == "waits").values(is_paused=True))
    assert reader.read().consumers == {}
    with metadata.engine.begin() as at:  # its file is away
        at.execute(update(DagModel).where(DagModel.dag_id == "made").values(is_stale=True))
        at.execute(delete(TaskOutletAssetReference).where(TaskOutletAssetReference.dag_id == "made"))
    (problem,) = reader.read().problems
    assert "no Dag makes partitions of the asset 'made'" in problem


def test_d5_evaluations_of_another_round_ask_anew_what_is_being_made(metadata: Metadata, tmp_path: Path) -> None:
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun

    metadata.parse(
        tmp_path,
        files="""
        @asset(schedule="@daily", partition=DAYS)
        def made(): ...

        @asset(schedule=made, partition=DAYS)
        def waits(): ...
        """,
    )
    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))
    metadata.emit("made", "2013-01-01")
    reader = SerializedDagReader()
    assert reader.read().consumers["waits"].evaluate("2013-01-01").fires
    now = datetime.now(UTC)
    run = {"dag_id": "made", "run_id": "again", "run_type": "manual", "state": "running", "log_template_id": None}
    with metadata.engine.begin() as at:
        at.execute(insert(DagRun).values(**run, run_after=now, queued_at=now, partition_key="2013-01-01"))
    assert not reader.read().consumers["waits"].evaluate("2013-01-01").fires
