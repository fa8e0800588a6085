"""``airflow asset-partitions doctor``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from rich.console import Console


def examine(args: Namespace) -> None:
    """Say what can't work as the Dags are now; exit status 1 if there is something."""
    from airflow_partitions.upkeep.serialized_dags import read_serialized_dags

    problems = read_serialized_dags().problems
    if args.output == "json":
        print(json.dumps({"problems": problems}))  # noqa: T201 - for scripts
    else:
        for problem in problems:
            Console().print(problem, markup=False, style="yellow")
        if not problems:
            Console().print("No problem was found.")
    sys.exit(1 if problems else 0)
