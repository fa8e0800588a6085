"""An asset whose definition changes: read by Airflow as one version of its file, and then as the next one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, select
from sqlalchemy.orm import Session

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
from airflow_partitions.engine.ledger.ledger import current_records, update_ledger
from airflow_partitions.engine.ledger.orphans import orphans, orphans_of
from airflow_partitions.engine.timetables.evaluation import _history
from airflow_partitions.engine.timetables.upstreams import _produced
from airflow_partitions.operate.operations.orphans import orphan_texts
from airflow_partitions.operate.requests.forget import forget
from airflow_partitions.operate.states import State, counts, explain, states_of
from airflow_partitions.operate.upkeep import Upkeep, one_round
from tests.metadata import LONG_AGO, Metadata

pytestmark = pytest.mark.airflow

HOURS = 'PartitionByInterval("@hourly", start="2013-01-01", end="2013-01-03")'
OTHERS = {
    "days": 'PartitionByInterval("@daily", start="2013-01-01", end="2013-01-03")',
    "another zone": 'PartitionByInterval("@hourly", timezone="Asia/Kolkata", start="2013-01-01", end="2013-01-03")',
    "a later start": 'PartitionByInterval("@hourly", start="2013-01-02", end="2013-01-03")',
    "a product": f'PartitionByProduct([{HOURS}, PartitionBySequence(["EWR", "JFK"], name="airport")])',
    "a sequence": 'PartitionBySequence(["EWR", "JFK"], name="airport")',
    "keys at runtime": 'PartitionAtRuntime(name="customers")',
}
#: How many of the 48 hours are partitions still.
KEPT = {"a later start": 24, "keys at runtime": 48}


class Estate:
    """A producer and a consumer, in a file that is written again and again."""

    def __init__(self, metadata: Metadata, folder: Path) -> None:
        self.metadata = metadata
        self._folder = folder

    def parse(self, partition: str, consumer: str = "DAYS") -> None:
        from airflow.models.dag import DagModel
        from sqlalchemy import update

        schedule = "None" if "Runtime" in partition else '"@daily"'
        source = f"""
            @asset(schedule={schedule}, partition={partition})
            def flights(): ...

            with DAG("reads", schedule=Partitioned(flights, {consumer})):
                EmptyOperator(task_id="write", outlets=[Asset("delays")])
        """
        self.metadata.parse(self._folder, estate=source)
        with self.metadata.engine.begin() as at:
            at.execute(update(DagModel).values(is_paused=False))
        _produced.cache_clear()
        _history.cache_clear()

    def hours(self) -> list[str]:
        return [f"{datetime(2013, 1, 1, tzinfo=UTC) + timedelta(hours=n):%Y-%m-%dT%H:%MZ}" for n in range(48)]

    def run(self, key: str, state: str, run_after: datetime = LONG_AGO) -> None:
        from airflow.models.dagrun import DagRun

        with self.metadata.engine.begin() as at:
            at.execute(
                insert(DagRun).values(
                    dag_id="flights", run_id=f"scheduled__{key}", run_type="scheduled", state=state,
                    run_after=run_after, queued_at=run_after, start_date=run_after, partition_key=key,
                    partition_date=datetime(2013, 1, 2, 23, tzinfo=UTC), log_template_id=None,
                )
            )  # fmt: skip


@pytest.fixture
def estate(metadata: Metadata, tmp_path: Path) -> Estate:
    estate = Estate(metadata, tmp_path)
    estate.parse(HOURS)
    return estate


@pytest.mark.parametrize("recorded", [True, False], ids=["after upkeep", "before upkeep"])
@pytest.mark.parametrize("other", OTHERS)
def test_old_partitions_are_kept_as_orphans_and_nothing_runs_by_itself(
    estate: Estate, other: str, *, recorded: bool
) -> None:
    hours = estate.hours()
    estate.metadata.emit("flights", *hours, source_dag_id="flights", source_run_id="run1")
    estate.run(hours[-1], "success")
    if recorded:
        one_round()
    consumer = "DAYS" if other in ("days", "another zone", "a later start", "a product") else OTHERS[other]
    estate.parse(OTHERS[other], consumer)
    asset, kept = partitioned_asset("flights"), KEPT.get(other, 0)
    everything = Selection.all(asset.definition)
    for _ in range(3):
        parts = [(part.count, part.first, part.last) for part in orphans("flights", asset.meaning)]
        assert parts == ([] if kept == 48 else [(48 - kept, hours[0], hours[47 - kept])])
        assert len(list(current_records("flights", asset.meaning, everything))) == kept
        if other != "keys at runtime":  # they are on no list
            assert counts(asset).counts.get(State.MATERIALIZED, 0) == kept
        outcome = one_round()
        assert outcome.caught_up == 0
    assert not runs_of(estate, "reads")
    estate.parse(HOURS)
    hours_again = partitioned_asset("flights")
    one_round()
    assert orphans("flights", hours_again.meaning) == ()
    assert len(list(current_records("flights", hours_again.meaning, Selection.all(hours_again.definition)))) == 48


def runs_of(estate: Estate, dag_id: str) -> list[Any]:
    from airflow.models.asset import AssetPartitionDagRun as Row

    with estate.metadata.engine.connect() as at:
        return list(at.scalars(select(Row.partition_key).where(Row.target_dag_id == dag_id)))


@pytest.mark.parametrize("other", OTHERS)
def test_a_round_of_upkeep_tells_of_old_keys_in_one_sentence(estate: Estate, other: str) -> None:
    work = Upkeep(wait=True)
    work.round()
    estate.metadata.emit("flights", *estate.hours())
    estate.parse(OTHERS[other], "DAYS" if other in ("days", "another zone") else OTHERS[other])
    problems = [problem for problem in work.round().problems if "'flights'" in problem]
    assert len(problems) <= 1
    work.close()


@pytest.mark.parametrize("other", OTHERS)
def test_the_schedule_goes_on_after_runs_of_an_older_definition(estate: Estate, other: str) -> None:
    from airflow.models.dag import DagModel

    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    hours = [f"{today - timedelta(hours=n):%Y-%m-%dT%H:%MZ}" for n in (4, 3, 2, 1)]
    for n, state in enumerate(("success", "failed", "queued", "running")):
        estate.run(hours[n], state, today + timedelta(microseconds=n))
    endless = OTHERS[other].replace(', end="2013-01-03"', "")
    estate.parse(endless, "DAYS" if other in ("days", "another zone") else endless)
    with Session(estate.metadata.engine) as at:
        due = at.get_one(DagModel, "flights").next_dagrun_create_after
    assert (due is None) == (other == "keys at runtime")
    assert due is None or today <= due <= today + timedelta(days=1)
    assert list(states_of("flights", limit=10).stretches) is not None


def test_the_doctor_has_a_note_on_old_partitions(estate: Estate) -> None:
    hours = estate.hours()
    estate.metadata.emit("flights", *hours)
    one_round()
    assert orphan_texts(read_serialized_dags().definitions) == {}
    estate.parse(OTHERS["days"])
    (note,) = orphan_texts(read_serialized_dags().definitions).values()
    assert note.startswith(
        f"asset 'flights': {hours[0]} to {hours[-1]} (48) are no partitions of its definition any more"
    )


def test_what_was_forgotten_before_is_no_orphan(estate: Estate) -> None:
    hours = estate.hours()
    estate.metadata.emit("flights", *hours)
    one_round()
    forget(partitioned_asset("flights"), Selection.of(partitioned_asset("flights").definition, *hours[:24]), by="anna")
    estate.parse(OTHERS["days"])
    (part,) = orphans("flights", partitioned_asset("flights").meaning)
    assert (part.count, part.first) == (24, hours[24])


def test_a_partition_of_the_new_definition_explains_itself(estate: Estate) -> None:
    estate.metadata.emit("flights", *estate.hours())
    one_round()
    estate.parse(OTHERS["days"])
    assert explain("flights", "2013-01-01").status.state == State.MISSING


def test_eo3_old_partitions_of_many_assets_are_found_by_few_statements(metadata: Metadata, tmp_path: Path) -> None:
    names = [f"flights_{number}" for number in range(20)]
    source = "\n".join(
        f"@asset(schedule=None, partition=DAYS)\ndef {name}(): ...\n" for name in (*names, "flights", "others")
    )
    metadata.parse(tmp_path, estate=source)
    days = PartitionByInterval("@daily")
    keys = [str(key) for key in days.keys("2013-01-01", "2013-01-11")]

    def examined(*assets: str) -> tuple[dict[str, list[tuple[int, str, str]]], int]:
        statements: list[Any] = []

        def note(*of: Any) -> None:
            statements.append(of[2])

        event.listen(metadata.engine, "before_cursor_execute", note)
        try:
            orphaned = orphans_of(dict.fromkeys(assets, days))
        finally:
            event.remove(metadata.engine, "before_cursor_execute", note)
        partitions = {name: [(part.count, part.first, part.last) for part in own] for name, own in orphaned.items()}
        return partitions, len(statements)

    before = examined("flights")
    assert before[0] == {}
    for name in (*names, "flights", "others"):
        metadata.emit(name, *keys, *(f"{key}T05:00Z" for key in keys[:3]))
        update_ledger(name, days)
    metadata.emit("flights", "nonsense")  # not in the ledger yet
    partitions, statements = examined("flights", *names)
    hours = (3, "2013-01-01T05:00Z", "2013-01-03T05:00Z")
    assert partitions == {"flights": [(4, hours[1], "nonsense")], **{name: [hours] for name in names}}
    assert statements == before[1]
    update_ledger("others", PartitionByInterval("@hourly"))  # its records are of both
    assert examined("others")[0] == {"others": [(3, hours[1], hours[2])]}


def test_what_was_forgotten_and_came_again_is_an_orphan_once(estate: Estate) -> None:
    hours = estate.hours()
    estate.metadata.emit("flights", *hours)
    one_round()
    forget(partitioned_asset("flights"), Selection.of(partitioned_asset("flights").definition, *hours[:24]), by="anna")
    estate.parse(OTHERS["days"])
    estate.metadata.emit("flights", *hours[22:26])
    parts = orphans("flights", partitioned_asset("flights").meaning)
    assert [(part.count, part.first, part.last) for part in parts] == [(24, hours[24], hours[-1]), (2, *hours[22:24])]
