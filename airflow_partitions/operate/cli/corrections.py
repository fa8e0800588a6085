"""``airflow asset-partitions mark``, ``forget``, ``remember`` and ``adopt``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import Console
from rich.progress import track as rich_track
from rich.text import Text

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.operate.cli.output import show
from airflow_partitions.operate.cli.selection import selected
from airflow_partitions.operate.cli.source import source_of
from airflow_partitions.operate.operations import corrections
from airflow_partitions.storage.metadata.counts import count


def mark(args: Namespace) -> None:
    """Mark partitions as materialized; exit status 1 with the reason if that is refused."""

    def words(answer: dict[str, Any]) -> str:
        again = f", {answer['present']:,} of them again" if answer["present"] else ""
        quiet = "; nothing downstream runs for it" if answer["quiet"] else ""
        return f"{count(answer['count'], 'partition')} of {answer['asset']} marked as materialized{again}{quiet}"

    options = {"select": selected(args), "reason": args.reason, "quiet": args.quiet, "dry_run": args.dry_run}
    _answer(args, corrections.mark, words, **options)


def forget(args: Namespace) -> None:
    """Forget partitions; exit status 1 with the reason if that is refused."""

    def words(answer: dict[str, Any]) -> str:
        absent = f"; {answer['absent']:,} were missing before" if answer["absent"] else ""
        return f"{count(answer['count'], 'partition')} of {answer['asset']} forgotten{absent}; storage is as it was"

    _answer(args, corrections.forget, words, select=selected(args), reason=args.reason, dry_run=args.dry_run)


def remember(args: Namespace) -> None:
    """Take back that partitions were forgotten; exit status 1 with the reason if that is refused."""

    def words(answer: dict[str, Any]) -> str:
        return f"{count(answer['count'], 'partition')} of {answer['asset']} count as materialized again"

    _answer(args, corrections.remember, words, select=selected(args), dry_run=args.dry_run)


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

    options = {"from_storage": args.from_storage, "from_asset": args.from_asset, "dry_run": args.dry_run}
    here = args.url is None and args.connection is None
    track = partial(rich_track, description="Looking at what is stored", console=Console(stderr=True))
    _answer(args, partial(corrections.adopt, track=track) if here else corrections.adopt, words, **options)


def _answer(
    args: Namespace, operation: Callable[..., dict[str, Any]], words: Callable[[dict[str, Any]], str], **options: Any
) -> None:
    """Ask for an *operation* and show what came of it."""
    try:
        answer = source_of(args).ask(operation, args.asset, **options)
    except PartitionError as error:
        sys.exit(str(error))
    only_told = "dry run, nothing was changed: " if answer["dry_run"] else ""
    show(args.output, answer, answer.items(), lambda: Text(only_told + words(answer)))
