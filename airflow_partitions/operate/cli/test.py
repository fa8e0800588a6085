"""``airflow asset-partitions test``."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from airflow_partitions.core.errors import InvalidDefinitionError, PartitionError
from airflow_partitions.operate.cli.output import console
from airflow_partitions.storage.metadata.counts import count

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.authoring.local import Trial


def test_partition(args: Namespace) -> None:
    """Make one partition here and show it; exit status 1 with the reason if that fails."""
    from airflow_partitions.authoring.local import try_partition

    try:
        with stdout_kept():
            task = find_task(args.asset, args.dags)
            trial = try_partition(task, args.key, inputs=dict(map(_pair, args.input)), explain=args.explain)
        if args.output == "json":
            print(json.dumps(_form(trial, args.rows), default=str))  # noqa: T201 - for scripts
        else:
            _show(trial, args.rows)
    except PartitionError as error:
        console(stderr=True).print(f"[red]{type(error).__name__}[/]: ", end="")
        sys.exit(str(error))


def find_task(asset: str, dags: str | None) -> BaseOperator:
    """The task that makes *asset*, in the Dag file or folder *dags*.

    :raises InvalidDefinitionError: if there is none; import errors and assets with close names are told.
    """
    from airflow import settings
    from airflow.dag_processing.dagbag import DagBag

    from airflow_partitions.engine.graph.serialized_dags import nearest_asset
    from airflow_partitions.engine.timetables.base import PartitionTimetable

    folder = dags or settings.DAGS_FOLDER
    if not Path(folder).exists():
        raise InvalidDefinitionError(f"there is no file or folder {folder}; expected a Dag file, or a folder of them")
    for modules in (Path(settings.DAGS_FOLDER), Path(folder) if Path(folder).is_dir() else Path(folder).parent):
        if str(modules) not in sys.path:  # as Airflow does, for what Dag files share
            sys.path.append(str(modules))
    bag = DagBag(folder)
    makers: dict[str, Any] = {}
    makes: dict[str, set[str]] = {}
    for dag in bag.dags.values():
        timetable: Any = dag.timetable
        if isinstance(timetable, PartitionTimetable) and timetable.partition is not None:
            outlets = {outlet.name: task for task in dag.tasks for outlet in task.outlets if hasattr(outlet, "name")}
            makers |= outlets
            makes[dag.dag_id] = set(outlets)
    if asset in makers:
        maker: BaseOperator = makers[asset]
        return maker
    if bag.import_errors:
        reasons = "\n".join(f"{file}: {error.strip().splitlines()[-1]}" for file, error in bag.import_errors.items())
        raise InvalidDefinitionError(
            f"no partitioned asset {asset!r} in {folder}; some files could not be read:\n{reasons}"
        )
    raise InvalidDefinitionError(f"no partitioned asset {asset!r} in {folder}; {nearest_asset(asset, makers, makes)}")


@contextmanager
def stdout_kept() -> Iterator[None]:
    """Send to stderr what anyone prints: Airflow's log, Dag files, the function itself. Stdout is for the answer."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)


def _pair(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise InvalidDefinitionError(f"--input {text!r}; expected NAME=PATH, for example flights=/tmp/sample.parquet")
    return name, path


def _form(trial: Trial, rows: int) -> dict[str, Any]:
    form: dict[str, Any] = {"partition": trial.partition.text}
    if trial.result is None:
        return form | {"value": trial.value}
    return (
        form
        | {"rows": trial.rows(rows), "plan": trial.plan, "counts": trial.result.summary()}
        | {"checks": [check.summary() for check in trial.checks]}
    )


def _show(trial: Trial, rows: int) -> None:
    out = console()
    if trial.result is None:
        out.print(f"{trial.partition}: the function returned {trial.value!r}")
        return
    table = Table(title=f"{trial.partition}: {trial.result.written.rows} rows")
    shown = trial.rows(rows)
    for column in shown[0] if shown else trial.result.written.schema:
        table.add_column(column)
    for row in shown:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    out.print(table)
    for name, reads in trial.result.reads.items():
        out.print(
            f"{name}: {count(reads.rows, 'row')} from {reads.files} files of {reads.partitions} of {reads.selected}"
            " partitions"
        )
    for check in trial.checks:
        out.print(f"{'passed' if check.passed else 'failed'}: {check.describe()}", markup=False, highlight=False)
    if trial.plan:
        out.print(trial.plan, markup=False, highlight=False)
