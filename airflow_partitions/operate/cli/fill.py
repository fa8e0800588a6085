"""``airflow asset-partitions fill``."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from airflow_partitions.operate.cli.materialize import ask_for, shown
from airflow_partitions.operate.contract.fill import FillAssets


def fill(args: Namespace) -> None:
    """Ask for what is missing of several assets, and wait for it if that is said."""
    ask_for(FillAssets, args, _shown)


def _shown(answer: dict[str, Any]) -> RenderableType:
    first, last = (answer[bound][:16].replace("T", " ") for bound in ("start", "end"))
    left_out = (f"left out: {each['asset']}: {each['why']}" for each in answer["left_out"])
    return Group(f"partitions that begin from {first} to {last}", shown(answer), *map(Text, left_out))
