"""``airflow asset-partitions doctor``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from airflow_partitions.core.errors import NotMigratedError, PartitionError
from airflow_partitions.engine.graph.partitioned_assets import asset_dags
from airflow_partitions.operate.cli.output import console
from airflow_partitions.operate.cli.source import Database, source_of
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.operations.doctor import errors, stuck_requests
from airflow_partitions.operate.operations.late import late_partitions
from airflow_partitions.operate.operations.orphans import orphan_texts


def examine(args: Namespace) -> None:
    """Say what can't work as the Dags are now, with exit status 1, and what is worth to know of the installation."""
    from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
    from airflow_partitions.operate.cli.installation import UNSEEN, notes

    about: list[str] = []
    try:
        source = source_of(args)
        if isinstance(source, Database):
            dags = read_serialized_dags()
            problems = [one.text for one in (*errors(dags), *stuck_requests()) if one.is_error]
            about = [
                *notes(dags.paths, spark=bool(dags.paths)),
                *orphan_texts(dags.definitions).values(),
                *map(str, late_partitions(asset_dags().values())),
            ]
        else:  # this machine says nothing of Airflow's
            problems = [one["text"] for one in source.ask(ListProblems())["problems"] if one["is_error"]]
    except NotMigratedError as error:  # nothing else can be looked at
        problems = [str(error)]
    except PartitionError as error:
        sys.exit(str(error))
    if args.output == "json":
        print(json.dumps({"problems": problems, "notes": about}))  # noqa: T201 - for scripts
    else:
        for problem in problems:
            console().print(problem, markup=False, style="yellow")
        if not problems:
            console().print("No problem was found.")
        for note in about:
            console().print(f"Note: {note}.", markup=False)
        console().print(UNSEEN, markup=False, style="dim")
    sys.exit(1 if problems else 0)
