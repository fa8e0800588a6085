"""A command in the form of Airflow's CLI."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from textwrap import indent

from airflow.cli.cli_config import ActionCommand, Arg, lazy_load_command

TABLE_OR_JSON = Arg(("-o", "--output"), choices=("table", "json"), default="table", help="How to show it")


def command(
    name: str,
    function: str,
    summary: str,
    description: str,
    examples: str,
    arguments: Iterable[Arg],
    notes: str = "",
) -> ActionCommand:
    """A command of ``airflow asset-partitions``.

    :param function: that it calls, with its module in the folder above.
    :param examples: lines, each a call.
    :param notes: what is said after the examples.
    """
    return ActionCommand(
        name=name,
        help=summary,
        description=description,
        epilog=f"\nexamples:\n{indent(cleandoc(examples), '  ')}\n{notes}",
        func=lazy_load_command(f"airflow_partitions.operate.cli.{function}"),
        args=tuple(arguments),
    )
