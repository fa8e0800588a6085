"""Airflow's metadata tables, in a database of their own, with Dags, assets and events that the tests put there."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import attrs
import pytest
from sqlalchemy import URL, Engine, Table, create_engine, delete, event, insert, literal_column, select, text, update
from sqlalchemy.orm import Session

from airflow_partitions.engine.database.models import Base as Ours
from airflow_partitions.engine.database.revision import REVISION, VERSION_TABLE
from airflow_partitions.engine.graph.cycles import _FILES
from airflow_partitions.engine.ledger.ledger_pages import PROGRESS
from airflow_partitions.engine.timetables.evaluation import _history
from airflow_partitions.engine.timetables.upstreams import _produced
from airflow_partitions.operate.operations.missed import _FORMS
from tests.parsed_files import ParsedFiles

HEADER = """
from airflow.sdk import DAG, Asset, task
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow_partitions import *
from airflow_partitions import PartitionByInterval, PartitionBySequence, Partitioned, asset

DAYS = PartitionByInterval("@daily")
"""
#: How many compiled statements an engine of all tests keeps.
STATEMENTS = 5_000
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
#: PostgreSQL takes nothing but JSON; Python makes no number of so many digits.
UNREADABLE = f"[{'1' * 5_000}]"


@attrs.frozen
class Metadata:
    """Dags, assets, their events and their cells."""

    engine: Engine
    _parsed_files: ParsedFiles | None = attrs.field(default=None, repr=False)

    def parse(self, folder: Path, **files: str) -> None:
        """Write Dag files, and let Airflow read them as its Dag processor does."""
        self.write_files(folder, **files)
        if self._parsed_files:
            self._parsed_files.parse(self.engine, folder, lambda: self._parse(folder))
        else:
            self._parse(folder)

    def _parse(self, folder: Path) -> None:
        from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
        from airflow.models.dagbundle import DagBundleModel

        bag = DagBag(str(folder))
        assert bag.import_errors == {}
        with Session(self.engine) as at:
            at.merge(DagBundleModel(name="dags"))
            at.commit()
            sync_bag_to_db(bag, "dags", None, session=at)
            at.commit()

    def write_files(self, folder: Path, **files: str) -> None:
        """Write Dag files, without what Airflow knows of them."""
        for name, source in files.items():
            (folder / f"{name}.py").write_text(HEADER + textwrap.dedent(source))
        _FILES.clear()  # Airflow reads a file in a process of its own
        # Python takes what it has compiled for that of any source of the same second and size.
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)

    def break_file(self, file: Path, error: str) -> None:
        """What Airflow does when a Dag file can't be imported any more: its Dags, and the assets of these, go."""
        from airflow.dag_processing.collection import _update_import_errors
        from airflow.models.dag import DagModel

        with Session(self.engine) as at:
            relative = at.scalar(select(DagModel.relative_fileloc).where(DagModel.fileloc == str(file)))
            assert relative is not None
            failed = {("dags", relative): f"Traceback (most recent call last):\n  File {file.name}\n{error}"}
            known = signature(_update_import_errors).parameters
            of_the_bundle = {"bundle_name": "dags"} if "bundle_name" in known else {}
            _update_import_errors(files_parsed={("dags", relative)}, import_errors=failed, session=at, **of_the_bundle)
            at.commit()
        self._drop_references()

    def remove_file(self, file: Path) -> None:
        """What Airflow does when a Dag file is gone."""
        from airflow.models.dag import DagModel

        with Session(self.engine) as at:
            at.execute(update(DagModel).where(DagModel.fileloc == str(file)).values(is_stale=True))
            at.commit()
        file.unlink()
        self._drop_references()

    def _drop_references(self) -> None:
        """What the Dag processor and the scheduler do with stale Dags."""
        from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
        from airflow.models.asset import AssetActive, AssetModel, remove_references_to_deleted_dags

        with Session(self.engine) as at:
            remove_references_to_deleted_dags(at)
            named = select(AssetModel.name).where(AssetModel.scheduled_dags.any() | AssetModel.producing_tasks.any())
            at.execute(delete(AssetActive).where(AssetActive.name.not_in(named)))
            SchedulerJobRunner._cleanup_orphaned_asset_state_store(session=at)
            at.commit()

    def asset(self, name: str) -> int:
        """The id of an active asset, which is made if there is none."""
        from airflow.models.asset import AssetActive, AssetModel

        with self.engine.begin() as at:
            number = at.scalar(select(AssetModel.id).where(AssetModel.name == name))
            if number is None:
                (number,) = at.execute(
                    insert(AssetModel).values(name=name, uri=name, group="asset")
                ).inserted_primary_key  # type: ignore[misc]
                at.execute(insert(AssetActive).values(name=name, uri=name))
            return int(number or 0)

    def prepare_runs(self) -> None:
        """What Airflow has in its tables before it creates a run."""
        from airflow.models.tasklog import LogTemplate

        with self.engine.begin() as at:
            at.execute(insert(LogTemplate).values(filename="log", elasticsearch_id="log"))

    def emit(self, asset: str, *keys: str | None, at: datetime = LONG_AGO, **values: Any) -> None:
        """Events of an asset, all of one moment."""
        from airflow.models.asset import AssetEvent

        asset_id = self.asset(asset)
        rows = [{"asset_id": asset_id, "partition_key": key, "timestamp": at, **values} for key in keys]
        with self.engine.begin() as connection:
            connection.execute(insert(AssetEvent), rows)

    def purge(self) -> None:
        """What ``airflow db clean`` does to events."""
        from airflow.models.asset import AssetEvent

        with self.engine.begin() as at:
            at.execute(delete(AssetEvent))

    def cells(self, asset: str, start: str = "") -> dict[str, Any]:
        """The cells of an asset's state store whose names begin with *start*."""
        from airflow.models.asset_state_store import AssetStateStoreModel as Cell

        with self.engine.connect() as at:
            rows = at.execute(select(Cell.key, Cell.value).where(Cell.asset_id == self.asset(asset)))
            return {key: json.loads(value) for key, value in rows if key.startswith(start)}

    def put(self, asset: str, cell: str, value: Any) -> None:
        """Overwrite a cell."""
        from airflow.models.asset_state_store import AssetStateStoreModel as Cell

        text = json.dumps(value)
        with self.engine.begin() as at:
            at.execute(delete(Cell).where(Cell.asset_id == self.asset(asset), Cell.key == cell))
            at.execute(insert(Cell).values(asset_id=self.asset(asset), key=cell, value=text))

    def put_task_cell(self, run_id: str, task_id: str, cell: str, value: Any) -> None:
        """Overwrite a cell of the state store of a task of a run."""
        from airflow.models.dagrun import DagRun
        from airflow.models.task_state_store import TaskStateStoreModel as Cell

        with self.engine.begin() as at:
            number, dag_id = at.execute(select(DagRun.id, DagRun.dag_id).where(DagRun.run_id == run_id)).one()
            row = {"dag_run_id": number, "task_id": task_id, "key": cell}
            at.execute(delete(Cell).where(*(getattr(Cell, name) == own for name, own in row.items())))
            at.execute(insert(Cell).values(row | {"dag_id": dag_id, "run_id": run_id, "value": json.dumps(value)}))

    def task_cells(self) -> list[str]:
        """The texts of all cells of tasks."""
        from airflow.models.task_state_store import TaskStateStoreModel as Cell

        with self.engine.connect() as at:
            return list(at.scalars(select(Cell.value)))

    def write_row(self, model: type[Ours], *where: Any, **values: Any) -> None:
        """Overwrite columns of rows of ours."""
        with self.engine.begin() as at:
            at.execute(update(model).where(*where).values(values))

    def break_form(self, column: Any, *where: Any, text: str = UNREADABLE) -> None:
        """Overwrite a column of JSON of rows of ours with text."""
        self.write_row(column.class_, *where, **{column.key: literal_column(f"'{text}'")})

    def clear_rows(self) -> None:
        """Delete all rows of our tables, as if upkeep had never run."""
        self.empty(reversed(_our_tables()))

    def empty(self, tables: Iterable[Table]) -> None:
        """Delete all rows of *tables*, in their order, in one go: thousands of tests end so."""
        script = "".join(f'DELETE FROM "{table.name}";' for table in tables)
        with closing(self.engine.raw_connection()) as connection:
            if self.engine.dialect.name == "sqlite":
                connection.executescript(f"BEGIN;{script}")  # type: ignore[attr-defined]
            else:
                connection.cursor().execute(script)
            connection.commit()

    def take_away(self, *assets: str) -> None:
        """What Airflow's scheduler does when no Dag file names some assets any more."""
        from airflow.jobs.scheduler_job_runner import SchedulerJobRunner
        from airflow.models.asset import AssetActive

        with Session(self.engine) as at:
            at.execute(delete(AssetActive).where(AssetActive.name.in_(assets)))
            SchedulerJobRunner._cleanup_orphaned_asset_state_store(session=at)
            at.commit()

    def bring_back(self, *assets: str) -> None:
        """What it does when a Dag file names them again."""
        from airflow.models.asset import AssetActive, AssetModel

        with self.engine.begin() as at:
            rows = at.execute(select(AssetModel.name, AssetModel.uri).where(AssetModel.name.in_(assets))).all()
            at.execute(insert(AssetActive), [{"name": name, "uri": uri} for name, uri in rows])

    def clear_cells(self, asset: str) -> None:
        """Delete all cells of an asset's state store."""
        from airflow.models.asset_state_store import AssetStateStoreModel as Cell

        with self.engine.begin() as at:
            at.execute(delete(Cell).where(Cell.asset_id == self.asset(asset)))

    def progress(self, asset: str) -> Any:
        """What the ledger notes of itself."""
        return self.cells(asset, PROGRESS)[PROGRESS]

    def pages(self, asset: str) -> dict[str, list[str]]:
        """The keys on the asset's pages, by month."""
        return {name.rpartition("/")[2]: list(page["times"]) for name, page in self.cells(asset, "page/").items()}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """An engine for each of the databases that Airflow's tables are made in."""
    engine: Engine = request.getfixturevalue(f"{request.param}_engine")
    return engine


@contextmanager
def engine_with_tables(url: URL) -> Iterator[Engine]:
    """An engine of an empty database, in which all of Airflow's tables are made, and ours."""
    from airflow.models import import_all_models
    from airflow.models.base import Base

    engine = create_engine(url, query_cache_size=STATEMENTS)
    if url.drivername == "sqlite":  # as Airflow has it, but for the wait for the disk, to survive a power cut
        settings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF"
        event.listen(engine, "connect", lambda connection, _: connection.executescript(settings))
    import_all_models()
    Base.metadata.create_all(engine)
    make_our_tables(engine)
    yield engine
    engine.dispose()


@cache
def _parsed_files() -> ParsedFiles:
    return ParsedFiles(_tables())


@cache
def _tables() -> list[Table]:
    """Airflow's and ours, each after those it refers to."""
    from airflow.models.base import Base

    return [*Base.metadata.sorted_tables, *_our_tables()]


@cache
def _our_tables() -> list[Table]:
    return Ours.metadata.sorted_tables


@pytest.fixture
def metadata(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Metadata]:
    """A database with nothing in it."""
    from airflow import settings

    monkeypatch.setattr(settings, "engine", engine)
    monkeypatch.setenv("AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL", "0")  # a changed file counts at once
    _produced.cache_clear()
    _FORMS.clear()
    _history.cache_clear()
    metadata = Metadata(engine, _parsed_files())
    yield metadata
    metadata.empty(reversed(_tables()))


def make_our_tables(engine: Engine) -> None:
    """What ``airflow db migrate`` does for us."""
    with engine.begin() as at:
        Ours.metadata.create_all(at)
        at.execute(text(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        at.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES ('{REVISION}')"))
