"""Forms of output: tables for people; JSON, YAML and lines for scripts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from airflow.cli.cli_config import Arg
from rich.console import Console, RenderableType

#: The argument of a command that has all four.
OUTPUT = Arg(
    ("-o", "--output"),
    choices=("table", "json", "yaml", "plain"),
    default="table",
    help="How to show it: a table for people; json, yaml, or lines with a tab between for scripts",
)


#: So wide is what goes to a pipe or a file: nothing is cut there.
_UNCUT = 100_000


def console(*, stderr: bool = False) -> Console:
    """A console as wide as the terminal, or ``COLUMNS`` says; without either nothing is cut or broken."""
    stream = sys.stderr if stderr else sys.stdout
    told = stream.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    return Console(stderr=stderr, width=None if told else _UNCUT)


def show(
    output: str,
    answer: Mapping[str, Any],
    rows: Iterable[Iterable[Any]],
    table: Callable[[], RenderableType],
) -> None:
    """Print an *answer* in the form *output*.

    :param rows: of the plain form.
    :param table: makes the form for people.
    """
    if output == "json":
        print(json.dumps(answer))  # noqa: T201 - for scripts
    elif output == "yaml":
        import yaml

        yaml.safe_dump(dict(answer), sys.stdout, allow_unicode=True, sort_keys=False)
    elif output == "plain":
        for row in rows:
            print("\t".join("" if value is None else str(value) for value in row))  # noqa: T201 - for scripts
    else:
        console().print(table())
