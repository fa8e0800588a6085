"""What is broken is a row with its cause and takes nothing else with it: each damage is put to each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, literal_column, select, update

from airflow_partitions.core import errors
from airflow_partitions.core.errors import GoneError, NotMigratedError, NotReadyError, PartitionError
from airflow_partitions.engine.database.models import Asset, Forgetting, Partition, Request
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.engine.runs.task_request import TASK_REQUEST
from airflow_partitions.operate.contract.assets import ListAssets
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.fill import FillAssets
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.requests.producer import Producer
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.readings import Readings
from tests.metadata import Metadata
from tests.operate.absent.sound_estate import (
    ERROR,
    KINDS,
    MADE,
    SOUND_ASSETS,
    check_others,
    names_broken,
    of_others,
    operations,
    questions,
    sound_answers,
)
from tests.operate.absent.test_absent import Reader
from tests.operate.states.world import put_runs

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

Damage = Callable[[Metadata, Path], None]


def serialized(path: str, value: str) -> Damage:
    """Another form of the Dag."""

    def damage(estate: Metadata, _: Path) -> None:
        from airflow.models.serialized_dag import SerializedDagModel as Row

        form = literal_column(f"json_set(data, '{path}', json('{value}'))")
        with estate.engine.begin() as at:
            at.execute(update(Row).where(Row.dag_id == "broken").values(data=form))

    return damage


def storage(path: str) -> Damage:
    """Another place of what is stored."""

    def damage(estate: Metadata, _: Path) -> None:
        from airflow.models.serialized_dag import SerializedDagModel as Row

        form = literal_column(f"replace(data, '/nowhere/at/all/broken', '{path}')")
        with estate.engine.begin() as at:
            at.execute(update(Row).where(Row.dag_id == "broken").values(data=form))

    return damage


def run_of_another_key(estate: Metadata, _: Path) -> None:
    put_runs(estate, "broken", ["2013-01-05|of|no|such"], "failed", MADE)
    estate.emit("broken", "no key at all", "2013-99-99", at=MADE)


def no_references(estate: Metadata, _: Path) -> None:
    from airflow.models.dag import DagModel
    from airflow.models.serialized_dag import SerializedDagModel as Row

    with estate.engine.begin() as at:
        at.execute(delete(Row).where(Row.dag_id == "broken"))
        at.execute(update(DagModel).where(DagModel.dag_id == "broken").values(is_stale=True))
    estate._drop_references()


def deadline_of_another_release(estate: Metadata, _: Path) -> None:
    from airflow.models.deadline_alert import DeadlineAlert as Row
    from airflow.models.serialized_dag import SerializedDagModel

    from airflow_partitions.authoring.deadline import PartitionDeadline

    own = Row.serialized_dag_id.in_(select(SerializedDagModel.id).where(SerializedDagModel.dag_id == "broken"))
    with estate.engine.begin() as at:
        at.execute(update(Row).where(own).values(reference={"reference_type": PartitionDeadline.__name__, "by": {}}))


#: How an asset is broken, and whether the doctor has an error that names it.
DAMAGES: Mapping[str, tuple[Damage, bool]] = {
    "definition of a later release": (
        lambda estate, _: estate.write_row(Asset, Asset.name == "broken", meaning={"version": 99, "kind": "later"}),
        True,
    ),
    "definition that is no JSON": (lambda estate, _: estate.break_form(Asset.meaning, Asset.name == "broken"), True),
    "records that are no JSON": (
        lambda estate, _: estate.break_form(
            Partition.extra, Partition.asset_id == estate.asset("broken"), text="{not json"
        ),
        True,
    ),
    "what is forgotten is no JSON": (lambda estate, _: estate.break_form(Forgetting.selection), True),
    "what is forgotten of a later release": (
        lambda estate, _: estate.write_row(Forgetting, selection={"version": 99}),
        True,
    ),
    "cell of a later release": (
        lambda estate, _: estate.put("broken", f"{TASK_REQUEST}of_a_task", {"version": 99}),
        True,
    ),
    "cell of an older release": (
        lambda estate, _: estate.put("broken", f"{TASK_REQUEST}of_a_task", {"2013-01-01": 1}),
        True,
    ),
    "request that is no JSON": (
        lambda estate, _: estate.break_form(Request.selection, Request.asset == "broken"),
        True,
    ),
    "request of a later release": (
        lambda estate, _: estate.write_row(Request, Request.asset == "broken", selection={"version": 99}),
        True,
    ),
    "conf of a request is no JSON": (
        lambda estate, _: estate.break_form(Request.conf, Request.asset == "broken"),
        True,
    ),
    "file with an import error": (
        lambda estate, folder: estate.break_file(folder / "broken.py", "NameError: name 'x' is not defined"),
        True,
    ),
    "file that is gone": (lambda estate, folder: estate.remove_file(folder / "broken.py"), True),
    "Dag of another release": (serialized("$.dag.timetable.__var.version", "99"), True),
    "timetable that is none": (serialized("$.dag.timetable", '{"__type": "no.such", "__var": {}}'), True),
    "definition in the Dag that is none": (serialized("$.dag.timetable.__var.partition", '{"kind": "no such"}'), True),
    "tasks that are none": (serialized("$.dag.tasks", "[7]"), True),
    "deadline of another release": (deadline_of_another_release, True),
    "storage of no known scheme": (storage("no-such-scheme://nowhere/at/all"), False),
    "storage at no address": (storage("s3://[nowhere/at/all"), False),
    "storage with a name that is too long": (storage(f"/{'n' * 300}/at/all"), False),
    "no serialized form": (no_references, False),
    "runs and events of other keys": (run_of_another_key, False),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_en2_en19_what_is_broken_takes_nothing_else_with_it(estate: Metadata, folder: Path, damage: str) -> None:
    before = sound_answers()
    do, is_told = DAMAGES[damage]
    rows = check_others(before, lambda: do(estate, folder))
    rows = [one for one in rows if one["kind"] not in ("connection", "folder", "package", "failed-runs", "late")]
    rows = [one for one in rows if one["is_error"] or one["kind"] == "missing-dag"]
    assert bool(rows) is is_told
    if damage == "cell of an older release":
        assert "an older release has written" in rows[0]["text"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_fill_of_all_assets_fills_the_others(estate: Metadata, folder: Path, damage: str) -> None:
    asked = FillAssets(since="2012-12-20T00:00Z", until="2013-02-01T00:00Z", while_paused=True, dry_run=True)
    before = of_others(answer(asked))["plan"]["steps"]
    assert {step["asset"] for step in before} >= {"sound", "after_sound"}
    DAMAGES[damage][0](estate, folder)
    assert of_others(answer(asked))["plan"]["steps"] == before


@pytest.mark.parametrize("damage", ["definition in the Dag that is none", "tasks that are none"])
def test_nothing_is_asked_of_a_dag_that_cant_be_read_and_it_says_why(
    estate: Metadata, folder: Path, damage: str
) -> None:
    asset = partitioned_asset("broken")
    DAMAGES[damage][0](estate, folder)
    with pytest.raises(NotReadyError, match=r"Dag broken can't be read as Airflow has serialized it.*once its file"):
        Producer.of(asset)


def test_the_others_have_something_of_each_kind(estate: Metadata) -> None:
    """Else it would say little that all is told of them as before."""
    problems = [one for one in answer(ListProblems())["problems"] if not names_broken(one)]
    assert {one["kind"] for one in problems} >= KINDS
    assert {one["asset"] for one in problems} >= set(SOUND_ASSETS)


def test_failed_runs_tell_their_error(estate: Metadata) -> None:
    (row,) = [
        one for one in answer(ListProblems())["problems"] if (one["kind"], one["asset"]) == ("failed-runs", "sound")
    ]
    assert "1 partition that no request asked for failed, and is not there since" in row["text"]
    assert f"the newest '2013-01-04' by: {ERROR}; ask again:" in row["text"]


def every(kind: type[PartitionError]) -> Iterator[type[PartitionError]]:
    """All errors of a *kind*."""
    yield kind
    for one in kind.__subclasses__():
        yield from every(one)


#: These are of the whole, and not of one asset.
OF_ALL = {NotMigratedError, GoneError}
#: The catalogue of errors, and what libraries raise.
ERRORS = sorted(
    {one for one in every(PartitionError) if one.__module__ == errors.__name__} - OF_ALL, key=lambda one: one.__name__
)
FOREIGN = (OSError, PermissionError, ValueError, KeyError, TypeError, OverflowError, RecursionError, ConnectionError)


def test_any_error_of_one_asset_is_told_of_that_one(estate: Metadata, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sound_answers()
    assert len(ERRORS) > 40
    raised: type[Exception]

    def broken(asset: PartitionedAsset) -> None:
        if asset.name == "broken":
            raise raised("told by the test")

    class BrokenReadings(Readings):
        def times(self, asset: PartitionedAsset) -> Any:
            broken(asset)
            return super().times(asset)

    class BrokenStates(AssetStates):
        def __init__(self, asset: PartitionedAsset, *rest: Any, **more: Any) -> None:
            broken(asset)
            super().__init__(asset, *rest, **more)

    for module in ("states.kept", "states.failures", "operations.changes", "operations.failed_partitions"):
        where = f"airflow_partitions.operate.{module}"
        monkeypatch.setattr(f"{where}.Readings", BrokenReadings)
        if module != "operations.failed_partitions":
            monkeypatch.setattr(f"{where}.AssetStates", BrokenStates)
    monkeypatch.setattr("airflow_partitions.operate.states.pages.AssetStates", BrokenStates)
    asked = [one for one in operations() if "sound" not in str(one) and "stored" not in str(one)]
    for raised in (*ERRORS, *FOREIGN):
        after = {str(one): of_others(answer(one)) for one in asked}
        for question, told in after.items():
            assert told == before[question], (raised, question)
        (row,) = [one for one in answer(ListAssets(counts=True))["assets"] if one["name"] == "broken"]
        assert (row["counts"], row["error"].partition(":")[0]) == (None, raised.__name__)
        texts = [one["text"] for one in answer(ListProblems())["problems"] if one["kind"] == "check"]
        assert len(texts) == 2, raised  # what failed, and what is late
        assert all(text.startswith("asset 'broken': what") and raised.__name__ in text for text in texts)


def test_who_may_not_read_what_is_broken_learns_nothing_of_it(estate: Metadata, folder: Path) -> None:
    reader = Reader(*SOUND_ASSETS)
    before = questions(reader)
    assert "broken" not in str(before)
    for damage in ("definition that is no JSON", "tasks that are none", "request that is no JSON"):
        do, _ = DAMAGES[damage]
        do(estate, folder)
        assert questions(reader) == before
        assert "broken" not in str([answer(asked, reader) for asked in operations()])


def test_connections_that_cant_be_reached_are_told_one_by_one(
    estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.models.connection import Connection

    find = Connection.get_connection_from_secrets.__func__  # type: ignore[attr-defined]

    def unreachable(cls: Any, conn_id: str) -> Any:
        if conn_id == "CONN":
            raise ConnectionError("the vault does not answer")
        return find(cls, conn_id)

    before = sound_answers()
    rows = check_others(
        before, lambda: monkeypatch.setattr(Connection, "get_connection_from_secrets", classmethod(unreachable))
    )
    (row,) = [one for one in rows if one["kind"] == "connection"]
    assert "can't be read here: ConnectionError: the vault does not answer" in row["text"]


def test_folders_that_one_may_not_look_into_are_told_one_by_one(
    estate: Metadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_dir = Path.is_dir
    before = sound_answers()

    def denied(path: Path) -> bool:
        if path.name == "denied":
            raise PermissionError(13, "Permission denied", str(path))
        return is_dir(path)

    def damage() -> None:
        storage("/nowhere/denied/broken")(estate, Path())
        monkeypatch.setattr(Path, "is_dir", denied)

    (row,) = [one for one in check_others(before, damage) if one["kind"] == "folder"]
    assert "Permission denied" in row["text"]
