"""``airflow asset-partitions doctor``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from airflow_partitions.core.errors import NotMigratedError, PartitionError
from airflow_partitions.engine.graph.partitioned_assets import asset_dags
from airflow_partitions.operate.cli.output import console
from airflow_partitions.operate.cli.source import Database, source_of
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.operations.doctor import checks_of, examined


def examine(args: Namespace) -> None:
    """Say what can't work as the Dags are now, with exit status 1, and what is worth to know of the installation."""
    from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
    from airflow_partitions.operate.cli.installation import UNSEEN, notes

    about: list[str] = []
    try:
        source = source_of(args)
        if isinstance(source, Database):
            found = list(examined(checks_of(asset_dags(), complete=True, records=True)))
            problems = [_words(one.to_json()) for one in found if one.is_error]
            paths = read_serialized_dags().paths
            about = [
                *notes(paths, spark=bool(paths)),
                *(one.text for one in found if not one.is_error and one.kind != "no-upkeep"),
            ]
        else:  # this machine says nothing of Airflow's
            problems = [_words(one) for one in source.ask(ListProblems())["problems"] if one["is_error"]]
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


def _words(problem: Mapping[str, Any]) -> str:
    """The sentence of a *problem*, with the command that mends it, where that is not in the sentence."""
    remedy, text = problem["remedy"], str(problem["text"])
    command = f"airflow asset-partitions reconcile {problem['asset']}"
    if remedy is None or remedy["kind"] != "reconcile" or command in text:
        return text
    return f"{text}; this writes it anew: {command}"
