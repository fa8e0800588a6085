"""``airflow asset-partitions upkeep`` and ``reconcile``."""

from __future__ import annotations

import json
import logging
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import track
from rich.table import Table
from sqlalchemy.exc import DBAPIError

from airflow_partitions.core.errors import NotMigratedError, PartitionError, StorageError
from airflow_partitions.operate.cli.output import console
from airflow_partitions.operate.cli.source import Source, source_of
from airflow_partitions.operate.contract.assets import ListAssets
from airflow_partitions.operate.contract.fields import MOST
from airflow_partitions.operate.contract.upkeep import Reconcile

if TYPE_CHECKING:
    from airflow_partitions.operate.upkeep import Round

log = logging.getLogger(__name__)
#: So many seconds at most lie between two tries while the database can't be used.
_LONGEST_PAUSE = 60.0


def upkeep(args: Namespace) -> None:
    """One round of upkeep, or rounds until the process is ended; or whether one is alive."""
    from airflow_partitions.operate.operations.metrics import Metrics
    from airflow_partitions.operate.upkeep import Upkeep
    from airflow_partitions.operate.upkeep.leader import Candidate, leader

    if args.check:
        try:
            sys.exit(None if leader() is not None else "no upkeep process is alive")
        except NotMigratedError as error:
            sys.exit(str(error))
    if args.loop:
        _loop(args, _end_on_signal())
        return
    work, metrics = Upkeep(wait=True), Metrics()
    try:
        with Candidate() as candidate:
            outcome = work.round(beat=candidate.beat) if candidate.leads() else None
            metrics.send(leads=outcome is not None)
            _report(outcome, args, set())
    except (NotMigratedError, StorageError) as error:
        sys.exit(str(error))
    finally:
        work.close()


def _loop(args: Namespace, end: Event) -> None:
    """Rounds until the process is asked to end; while the database is locked or away it tries again, ever less often.

    What a round has left half-done the next one does.
    """
    from airflow_partitions.operate.operations.metrics import Metrics
    from airflow_partitions.operate.upkeep import Upkeep
    from airflow_partitions.operate.upkeep.leader import Candidate

    told, failures = set[str](), 0
    work, candidate, metrics = Upkeep(), Candidate(), Metrics()
    try:
        while True:
            try:
                if not candidate.is_entered:
                    candidate.enter()
                outcome = work.round(beat=candidate.beat) if candidate.leads() else None
                metrics.send(leads=outcome is not None)
            except DBAPIError as error:  # locked, restarted or out of connections: others mend it
                pause = min(args.interval * 2**failures, _LONGEST_PAUSE)
                failures += 1
                work.close()
                work = Upkeep()  # what the last round had begun is looked at again
                log.warning("The database can't be used, so upkeep tries again in %.0f s: %s", pause, error.orig)
            else:
                if failures:
                    log.warning("The database can be used again, after %d failures; upkeep goes on", failures)
                pause, failures = args.interval, 0
                _report(outcome, args, told)
            if end.wait(pause):
                return
    except (NotMigratedError, StorageError) as error:
        sys.exit(str(error))
    finally:
        work.close()
        with suppress(DBAPIError):  # a row without a heartbeat counts as ended
            candidate.leave()


def _end_on_signal() -> Event:
    """An event that is set when the process is asked to end; asked again, the process ends at once."""
    end = Event()

    def ask(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        end.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, ask)
    return end


def reconcile(args: Namespace) -> None:
    """Make the ledgers of some assets, or of all, again from their events; one keeps none of the others."""
    try:
        source = source_of(args)
        names = args.assets or list(_names(source))
    except PartitionError as error:
        sys.exit(str(error))
    updates: list[dict[str, Any]] = []
    refused: list[str] = []
    for asset in track(names, "Reading events", console=Console(stderr=True), disable=args.output == "json"):
        try:
            updates.append(source.ask(Reconcile(asset=asset, dry_run=args.dry_run)))
        except NotMigratedError as error:  # nothing else would work either
            sys.exit(str(error))
        except PartitionError as error:
            refused.append(f"asset {asset!r}: {error}")
    _show(updates, args.output)
    if refused:
        sys.exit("\n".join(refused))


def _names(source: Source) -> Iterator[str]:
    """The names of all partitioned assets."""
    cursor = None
    while True:
        answer = source.ask(ListAssets(limit=MOST, cursor=cursor))
        yield from (asset["name"] for asset in answer["assets"])
        if (cursor := answer["cursor"]) is None:
            return


def _report(outcome: Round | None, args: Namespace, told: set[str]) -> None:
    """Print the outcome of a round; in a loop only what is new, and not among what was *told*."""
    if args.output == "json":
        if not args.loop or (outcome is not None and not outcome.idle):
            form = {"working": outcome is not None, **(outcome.to_json() if outcome else {})}
            print(json.dumps(form), flush=True)  # noqa: T201 - for scripts
        return
    out = console()
    if outcome is None:
        if not args.loop or "standing by" not in told:
            out.print("another upkeep process is at work; standing by")
        told.add("standing by")
        return
    told.discard("standing by")
    for problem in outcome.problems:
        console(stderr=True).print(problem, markup=False, style="yellow")
    work = outcome.records, outcome.caught_up, outcome.fired, outcome.hopeless, outcome.requests, outcome.batches
    if not args.loop or any(work):
        out.print(
            f"{outcome.assets} ledgers, {outcome.records} partitions written; {outcome.caught_up} caught up;"
            f" deleted pending rows: {outcome.fired} fired, {outcome.hopeless} that can never fire"
            + (f"; created the runs of {outcome.requests} requests" if outcome.requests else "")
            + (f"; ended the runs of {outcome.batches} batches" if outcome.batches else "")
        )
    for table in outcome.tables:
        out.print(str(table), markup=False, highlight=False)


def _show(updates: list[dict[str, Any]], output: str) -> None:
    if output == "json":
        print(json.dumps(updates))  # noqa: T201 - for scripts
        return
    table = Table("asset", "events read", "partitions written", "malformed keys")
    for update in updates:
        malformed = ", ".join(list(update["malformed"])[:5])
        table.add_row(update["asset"], str(update["events"]), str(update["written"]), malformed)
    console().print(table)
