"""``airflow asset-partitions doctor``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from rich.console import Console

from airflow_partitions.cli.source import Database, source_of
from airflow_partitions.errors import PartitionError
from airflow_partitions.operations.deadlines import late_notes
from airflow_partitions.operations.orphans import orphan_notes
from airflow_partitions.operations.upkeep import list_problems


def examine(args: Namespace) -> None:
    """Say what can't work as the Dags are now, with exit status 1, and what is worth to know of the installation."""
    from airflow_partitions.cli.installation import UNSEEN, notes
    from airflow_partitions.graph.serialized_dags import read_serialized_dags

    about: list[str] = []
    try:
        source = source_of(args)
        if isinstance(source, Database):
            dags = read_serialized_dags()
            problems = list_problems(dags)["problems"]
            about = [*notes(dags.paths, spark=bool(dags.paths)), *orphan_notes(dags.definitions), *late_notes()]
        else:  # this machine says nothing of Airflow's
            problems = source.ask(list_problems)["problems"]
    except PartitionError as error:
        sys.exit(str(error))
    if args.output == "json":
        print(json.dumps({"problems": problems, "notes": about}))  # noqa: T201 - for scripts
    else:
        for problem in problems:
            Console().print(problem, markup=False, style="yellow")
        if not problems:
            Console().print("No problem was found.")
        for note in about:
            Console().print(f"Note: {note}.", markup=False)
        Console().print(UNSEEN, markup=False, style="dim")
    sys.exit(1 if problems else 0)
