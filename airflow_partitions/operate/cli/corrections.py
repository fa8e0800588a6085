"""``airflow asset-partitions mark``, ``forget``, ``remember`` and ``adopt``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track
from rich.text import Text

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.keys_file import words_of
from airflow_partitions.operate.cli.output import show
from airflow_partitions.operate.cli.source import source_of
from airflow_partitions.operate.contract.corrections import Adopt, Forget, Mark, Remember
from airflow_partitions.operate.contract.missed import SkipMissed
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.storage.metadata.counts import count

T = TypeVar("T")


def mark(args: Namespace) -> None:
    """Mark partitions as materialized; exit status 1 with the reason if that is refused."""

    def words(answer: dict[str, Any]) -> str:
        again = f", {answer['present']:,} of them again" if answer["present"] else ""
        quiet = "; nothing downstream runs for it" if answer["quiet"] else ""
        return f"{count(answer['count'], 'partition')} of {answer['asset']} marked as materialized{again}{quiet}"

    _answer(args, Mark, words)


def forget(args: Namespace) -> None:
    """Forget partitions; exit status 1 with the reason if that is refused."""

    def words(answer: dict[str, Any]) -> str:
        absent = f"; {answer['absent']:,} were missing before" if answer["absent"] else ""
        return f"{count(answer['count'], 'partition')} of {answer['asset']} forgotten{absent}; storage is as it was"

    _answer(args, Forget, words)


def remember(args: Namespace) -> None:
    """Take back that partitions were forgotten; exit status 1 with the reason if that is refused."""

    def words(answer: dict[str, Any]) -> str:
        return f"{count(answer['count'], 'partition')} of {answer['asset']} count as materialized again"

    _answer(args, Remember, words)


def skip_missed(args: Namespace) -> None:
    """Skip what paused Dags have missed; exit status 1 with the reason if that is refused."""

    def words(answer: dict[str, Any]) -> str:
        number = sum(dag["count"] for dag in answer["dags"])
        return f"{count(number, 'partition')} of {answer['asset']} will not follow once its Dags are unpaused"

    _answer(args, SkipMissed, words)


def adopt(args: Namespace) -> None:
    """Take over what is there; exit status 1 with the reason if that is refused."""

    def words(answer: dict[str, Any]) -> str:
        source = "storage" if args.from_storage else answer["source"]
        more = [
            f"{answer['present']:,} were known" if answer["present"] else "",
            f"{answer['forgotten']:,} stay forgotten: mark them to let them count" if answer["forgotten"] else "",
            f"no partitions of it: {', '.join(answer['foreign'])}" if answer["foreign"] else "",
        ]
        done = f"{count(answer['count'], 'partition')} of {answer['asset']} taken over from {source}"
        return "; ".join(filter(None, [done, *more]))

    _answer(args, Adopt, words)


class _Watcher(Asker):
    """The user of this process, who sees on the error stream how far long work has come."""

    def track(self, steps: Iterable[T]) -> Iterable[T]:
        return track(steps, description="Looking at what is stored", console=Console(stderr=True))


def _answer(args: Namespace, operation: type[Operation], words: Callable[[dict[str, Any]], str]) -> None:
    """Ask for an *operation* and show what came of it."""
    try:
        answer = source_of(args, _Watcher()).ask(asked(operation, args))
    except PartitionError as error:
        sys.exit(words_of(error, args))
    only_told = "dry run, nothing was changed: " if answer["dry_run"] else ""
    show(args.output, answer, answer.items(), lambda: Text(only_told + words(answer)))
