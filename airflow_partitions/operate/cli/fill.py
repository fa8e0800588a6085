"""``airflow asset-partitions fill``."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.materialize import shown, status, wait
from airflow_partitions.operate.cli.output import show
from airflow_partitions.operate.cli.plan import plan_rows
from airflow_partitions.operate.cli.source import source_of
from airflow_partitions.operate.contract.fill import FillAssets


def fill(args: Namespace) -> None:
    """Ask for what is missing of several assets, and wait for it if that is said."""
    try:
        source = source_of(args)
        answer = source.ask(asked(FillAssets, args))
        if args.wait and answer["requests"]:
            answer["requests"] = wait(source, answer["requests"])
    except PartitionError as error:
        sys.exit(str(error))
    rows = plan_rows(answer["plan"]) if args.dry_run else [[r["id"], r["state"]] for r in answer["requests"]]
    show(args.output, answer, rows, lambda: _shown(answer))
    if args.wait:
        sys.exit(status({request["state"] for request in answer["requests"]}))


def _shown(answer: dict[str, Any]) -> RenderableType:
    first, last = (answer[bound][:16].replace("T", " ") for bound in ("start", "end"))
    left_out = (f"left out: {each['asset']}: {each['why']}" for each in answer["left_out"])
    return Group(f"partitions that begin from {first} to {last}", shown(answer), *map(Text, left_out))
