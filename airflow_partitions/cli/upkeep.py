"""``airflow asset-partitions upkeep`` and ``reconcile``."""

from __future__ import annotations

import json
import signal
import sys
from argparse import Namespace
from threading import Event
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import track
from rich.table import Table

from airflow_partitions.errors import PartitionError, StorageError

if TYPE_CHECKING:
    from airflow_partitions.history.ledger import Progress
    from airflow_partitions.upkeep import Round


def upkeep(args: Namespace) -> None:
    """One round of upkeep, or rounds until the process is ended; or whether one is alive."""
    from airflow_partitions.upkeep import one_round
    from airflow_partitions.upkeep.leader import Turn, working

    if args.check:
        sys.exit(None if working() is not None else "no upkeep process is alive")
    end = _asked_to_end() if args.loop else Event()
    told: set[str] = set()
    try:
        with Turn() as turn:
            while True:
                done = one_round() if turn.take() else None
                _tell(done, args, told)
                if not args.loop or end.wait(args.interval):
                    return
    except StorageError as error:
        sys.exit(str(error))


def _asked_to_end() -> Event:
    """Set when the process is asked to end: it does so after the round it is in, and at once if asked again."""
    end = Event()

    def ask(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        end.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    return end


def reconcile(args: Namespace) -> None:
    """Make the ledgers of some assets, or of all, again from their events."""
    from airflow_partitions.history.ledger import advance
    from airflow_partitions.upkeep.serialized_dags import wired

    known = wired()
    try:
        definitions = {asset: known.definition(asset) for asset in args.assets or sorted(known.definitions)}
        shown = track(definitions, "Reading events", console=Console(stderr=True), disable=args.output == "json")
        found = [advance(asset, definitions[asset], anew=True) for asset in shown]
    except PartitionError as error:
        sys.exit(str(error))
    _show(found, args.output)


def _tell(done: Round | None, args: Namespace, told: set[str]) -> None:
    """Say what a round did; in a loop only what is new."""
    if args.output == "json":
        if not args.loop or (done is not None and not done.idle):
            print(json.dumps({"working": done is not None, **(done.to_json() if done else {})}), flush=True)  # noqa: T201
        return
    console = Console()
    if done is None:
        if not args.loop or "standing by" not in told:
            console.print("another upkeep process is at work; standing by")
        told.add("standing by")
        return
    told.discard("standing by")
    for problem in done.problems:
        if problem not in told:
            Console(stderr=True).print(f"[yellow]{problem}[/]")
    told.update(done.problems)
    if not args.loop or done.records or done.caught_up or done.fired or done.waiting:
        console.print(
            f"{done.assets} ledgers, {done.records} partitions written; {done.caught_up} caught up;"
            f" pending rows taken away: {done.fired} fired, {done.waiting} without a future"
        )


def _show(found: list[Progress], output: str) -> None:
    if output == "json":
        rows = [
            {"asset": p.asset, "events": p.events, "written": p.records, "malformed": dict(p.malformed)} for p in found
        ]
        print(json.dumps(rows))  # noqa: T201 - for scripts
        return
    table = Table("asset", "events read", "partitions written", "malformed keys")
    for progress in found:
        malformed = ", ".join(list(progress.malformed)[:5])
        table.add_row(progress.asset, str(progress.events), str(progress.records), malformed)
    Console().print(table)
