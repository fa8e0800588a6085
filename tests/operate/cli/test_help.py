"""What each command says of itself: a change of it is meant, and seen.

python -m tests.operate.cli.test_help     write what they say now
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden" / "help.txt"


def text() -> str:
    """The help of all commands."""
    from airflow.cli.cli_parser import get_parser

    commands = _choices(_choices(get_parser())["asset-partitions"])
    return "\n".join(
        f"$ airflow asset-partitions {name} --help\n{each.format_help()}" for name, each in commands.items()
    )


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (action,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return dict(action.choices)


def test_the_help_of_all_commands_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert text() == GOLDEN.read_text()


if __name__ == "__main__":
    import os

    os.environ["COLUMNS"] = "120"
    GOLDEN.write_text(text())
