"""Whatever stands in a column of our tables, or in a cell of ours, takes nothing else with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from airflow.utils.sqlalchemy import UtcDateTime
from sqlalchemy import BigInteger, Boolean, Column, Integer, Table, select, update

import airflow_partitions
from airflow_partitions.engine.batches.member import MEMBERS
from airflow_partitions.engine.batches.outcome import OUTCOMES
from airflow_partitions.engine.database import models
from airflow_partitions.engine.database.form import Form
from airflow_partitions.engine.ledger.ledger_pages import FORGOTTEN, PAGE, PROGRESS
from airflow_partitions.engine.runs.own_claims import OWN_CLAIMS
from airflow_partitions.engine.runs.task_error import TASK_ERROR
from airflow_partitions.operate.contract.assets import ListAssets
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.operate.contract.requests import ListRequests
from airflow_partitions.operate.contract.states import CountStates
from airflow_partitions.operate.contract.upkeep import Reconcile
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.states import overview
from airflow_partitions.operate.upkeep import one_round
from airflow_partitions.operate.upkeep.cell_check import CELLS
from tests.metadata import UNREADABLE, Metadata
from tests.operate.absent.sound_estate import MADE, check_others, of_others, sound_answers

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

ASKED: tuple[Operation, ...] = (
    ListAssets(counts=True),
    ListRequests(),
    ListFailures(),
    ListChanges(since="2013-01-01T00:00+00:00"),
    ListProblems(),
    CountStates(asset="sound"),
)
TABLES = list(models.Base.metadata.sorted_tables)
NEVER = datetime(9999, 12, 30, tzinfo=UTC)
LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)


def rows_of_broken(table: Table) -> Any:
    """The condition on rows of a table that they are of what is broken."""
    from airflow.models.asset import AssetModel
    from airflow.models.dagrun import DagRun

    asset = select(AssetModel.id).where(AssetModel.name == "broken").scalar_subquery()
    lists = select(models.KeyList.id).where(models.KeyList.name == "broken_keys").scalar_subquery()
    conditions = {
        models.Asset: models.Asset.id == asset,
        models.Partition: models.Partition.asset_id == asset,
        models.Forgetting: models.Forgetting.asset_id == asset,
        models.Consumer: models.Consumer.dag_id == "broken_waits",
        models.RunRequest: models.RunRequest.dag_id == "broken",
        models.Dag: models.Dag.dag_id == "broken",
        models.Request: models.Request.asset == "broken",
        models.BatchMember: models.BatchMember.run_id.in_(select(DagRun.id).where(DagRun.dag_id == "broken")),
        models.LimitedRun: models.LimitedRun.run_id.in_(select(DagRun.id).where(DagRun.dag_id == "broken")),
        models.Hold: models.Hold.dag_id == "broken",
        models.TaskRequest: models.TaskRequest.asset == "broken",
        models.KeyList: models.KeyList.name == "broken_keys",
        models.RuntimeKey: models.RuntimeKey.list_id == lists,
        models.Upkeep: models.Upkeep.host == "broken",
    }
    (condition,) = [own for model, own in conditions.items() if model.__table__ is table]
    return condition


def values_of(column: Column[Any]) -> list[Any]:
    """What the database takes in a *column*, and nobody expects there."""
    values: list[Any]
    if isinstance(column.type, Form):
        values = [{"version": 99}, [7], {"version": 1}]
    elif isinstance(column.type, Boolean):
        values = [True, False]
    elif isinstance(column.type, BigInteger):
        values = [-(2**63), 2**63 - 1]
    elif isinstance(column.type, Integer):
        values = [-(2**31), 2**31 - 1]
    elif isinstance(column.type, UtcDateTime):
        values = [LONG_AGO, NEVER]
    else:
        values = ["", "broken | no such thing: 2013-99-99"]
    return [*values, None] if column.nullable else values


def stored(table: Table) -> list[Column[Any]]:
    """The columns of a *table* by which its rows are not found."""
    return [column for column in table.columns if not (column.primary_key or column.foreign_keys)]


def damaged(estate: Metadata, table: Table) -> Iterator[str]:
    """Each value of each column of a *table* that its rows are not found by; each is taken back."""
    for column in stored(table):
        for value in [*values_of(column), *([UNREADABLE] if isinstance(column.type, Form) else [])]:
            with estate.engine.connect() as at:
                before = [dict(row) for row in at.execute(select(table)).mappings()]
                own = rows_of_broken(table)
                if value is UNREADABLE:
                    from sqlalchemy import literal_column

                    change = update(table).where(own).values({column: literal_column(f"'{value}'")})
                else:
                    change = update(table).where(own).values({column: value})
                assert at.execute(change).rowcount, column
                at.commit()
                yield f"{column}: {value!r:.40}"
                keys = [key for key in table.columns if key.primary_key]
                for row in before:
                    at.execute(
                        update(table)
                        .where(*(key == row[key.name] for key in keys))
                        .values({name: one for name, one in row.items() if name == column.name})
                    )
                at.commit()


def told() -> dict[str, Any]:
    """What is told of the sound assets by a few questions, each about many."""
    overview._OVERVIEWS.clear()
    return {type(asked).__name__: of_others(answer(asked)) for asked in ASKED}


@pytest.mark.parametrize("table", TABLES, ids=[table.name.removeprefix(models.PREFIX) for table in TABLES])
def test_whatever_stands_in_a_column_takes_nothing_else_with_it(estate: Metadata, table: Table) -> None:
    before, wrong = told(), dict[str, object]()
    for damage in damaged(estate, table):
        try:
            after = told()
        except Exception as error:  # noqa: BLE001 - all of them are to be seen at once
            wrong[damage] = repr(error)
        else:
            if after != before:
                wrong[damage] = [name for name, one in after.items() if one != before[name]]
    assert wrong == {}
    for column in stored(table):
        with estate.engine.begin() as at:
            at.execute(update(table).where(rows_of_broken(table)).values({column: values_of(column)[0]}))
    assert not [text for text in one_round().problems if "broken" not in text]


FORMS = {"of a later release": {"version": 99}, "of an older release": {"2013-01-01": 1}, "no form": [7]}


def test_whatever_stands_in_a_cell_is_told_and_takes_nothing_else_with_it(estate: Metadata) -> None:
    before, own = told(), estate.cells("broken")
    for cell, (form, value) in product(CELLS, FORMS.items()):
        name = cell if cell[-1].isalnum() else f"{cell}2013-01-04"
        estate.put("broken", name, value)
        assert told() == before, (cell, form)
        rows = [one for one in answer(ListProblems())["problems"] if repr(name) in one["text"]]
        assert [one["asset"] for one in rows] == ["broken"], (cell, form)
        if rows[0]["remedy"] is not None:
            answer(Reconcile(asset="broken"))
        estate.put("broken", name, own.get(name))
    assert not [text for text in one_round().problems if "broken" not in text]


@pytest.mark.parametrize("cell", [PROGRESS, FORGOTTEN, PAGE])
def test_cells_that_tasks_read_a_ledger_by_are_made_again(estate: Metadata, cell: str) -> None:
    own = estate.cells("broken", cell)
    for name in own:
        estate.put("broken", name, {"version": 99})
    assert own
    rows = [one for one in answer(ListProblems())["problems"] if one["kind"] == "cell"]
    assert [(one["asset"], one["remedy"]["kind"]) for one in rows] == [("broken", "reconcile")] * len(own)
    answer(Reconcile(asset="broken"))
    again = estate.cells("broken", cell)
    assert again.keys() == own.keys()
    assert [one for one in answer(ListProblems())["problems"] if one["kind"] == "cell"] == []
    assert cell == PROGRESS or again == own  # that says until when all is read


@pytest.mark.parametrize("cell", [TASK_ERROR, f"{OWN_CLAIMS}2013-01-04", f"{OUTCOMES}0", MEMBERS])
def test_whatever_stands_in_a_cell_of_a_task_takes_nothing_else_with_it(estate: Metadata, cell: str) -> None:
    before = sound_answers()

    def damage() -> None:
        for form in FORMS.values():
            estate.put_task_cell(f"broken 2013-01-04 {MADE.isoformat()}", "broken", cell, form)

    assert check_others(before, damage)


#: Where a cell is written: the file, and its name there. What is new belongs in :data:`CELLS`, or is a task's own.
WRITTEN = {
    ("authoring/tasks/operator.py", "TASK_REQUEST + number"),
    ("engine/batches/choice.py", "Cell"),  # claims
    ("engine/batches/batch_leader.py", "Cell"),  # the members that a task leads
    ("engine/batches/outcome_cells.py", "f'{OUTCOMES}{self._cell}'"),
    ("engine/ledger/mailbox.py", "{FORGOTTEN: json.dumps(forgotten.to_json())}"),
    ("engine/ledger/mailbox.py", "{PROGRESS: json.dumps(progress.to_json())}"),
    ("engine/ledger/mailbox.py", "{page_cell(progress.addresses, month): page_text(times)}"),
    ("engine/runs/claim.py", "claimed"),
    ("engine/runs/claim.py", "door"),
    ("engine/runs/claim.py", "passed"),
    ("engine/runs/failure.py", "failed_cell(partition.text)"),
    ("engine/runs/key_list.py", "CELL"),
    ("engine/ledger/key_table.py", "CELL"),
    ("engine/runs/mailbox.py", "name"),  # claims, made again
    ("engine/runs/own_claims.py", "OWN_CLAIMS + text"),
    ("engine/runs/task_error.py", "Cell"),
    ("engine/runs/task_error.py", "TASK_ERROR"),
    ("operate/requests/runtime_keys.py", "KEYS_CLAIM"),
    ("operate/upkeep/answers.py", "cells"),  # answers
    ("operate/upkeep/mailboxes.py", "Cell"),  # claims, made again
}
_PLACES = {"write_cells": 2, "put_cell": 2, "replace_empty_cell": 2, "lock_cell": 2}


def written() -> Iterator[tuple[str, str]]:
    """The places in the package where a cell is written, each with the name of the cell as it stands there."""
    root = Path(airflow_partitions.__file__).parent
    for file in root.rglob("*.py"):
        if file.name == "state_store.py":  # it writes what others name
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call):
                continue
            called, texts = ast.unparse(node.func), [ast.unparse(one) for one in node.args]
            if called in _PLACES:
                yield str(file.relative_to(root)), texts[_PLACES[called]]
            elif called.endswith(".set") and "tore" in called:
                yield str(file.relative_to(root)), texts[0]
            elif called in ("insert", "build_upsert_stmt") and "Cell" in texts:
                yield str(file.relative_to(root)), "Cell"


@pytest.mark.usefixtures("engine")
def test_each_cell_that_is_written_is_among_those_that_are_damaged_here() -> None:
    assert set(written()) == WRITTEN
