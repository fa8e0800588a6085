"""``python -m demo``: start, look at and stop the demo."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import attrs
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from demo import backfill, comparison, landing, plan, processing, report, services
from demo.api import Api
from demo.classes import archived
from demo.errors import DemoError
from demo.home import CHECKOUT, USER, Home

EXAMPLES = """\
examples:
  python -m demo start                    8 February 2013, a snow storm, and both clock changes
  python -m demo start --quick            this day only, without the clock changes
  python -m demo start --day 2013-12-25   another day
  python -m demo start --json | jq .matches
  python -m demo status
  python -m demo stop
"""

told = Console(stderr=True)  # steps and progress; results go to stdout


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if all is well."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except DemoError as error:
        _tell(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        _tell("left; Airflow goes on with it: start comes back to it, stop ends it")
        return 130


def _start(options: argparse.Namespace) -> int:
    home = Home(options.home)
    home.create()
    with archived(home):
        there = _land(home)
        running = services.start(home, options.port, _tell, services.COMMANDS)
    with Api(running.address, USER, home.secret("password")) as api:
        process = processing.one_day if options.quick else processing.everything
        course = process(api, options.day, _progress, running.check)
        rows = report.collect(api, course.runs, there, home.lake)
        failed = [
            f"the end of the log of {run.asset} {run.key}:\n{backfill.log_of(api, run)}"
            for run in course.runs
            if run.state == "failed"
        ]
    counts = list(comparison.counts(rows, landing.source()))
    wrong = [*course.differences, *comparison.failures(rows), *comparison.differences(counts)]
    if options.json:
        result = {
            "partitions": [attrs.asdict(row) for row in rows],
            "again": course.again and {"hour": plan.AGAIN, **attrs.asdict(course.again)},
            "numbers": len(counts),
            "differences": wrong,
            "matches": not wrong,
        }
        print(json.dumps({**result, "address": running.address}, indent=2))
    else:
        report.show(rows, Console())
        if course.again:
            report.show_firing(plan.AGAIN, course.again, Console())
        right = f"{len(counts):,} numbers match what pandas counts"
        print("\n".join(["differs from what was expected:", *wrong]) if wrong else right)
    _tell("\n".join(failed[:1]))  # the others failed for the same reason, as a rule
    _tell(f"look around at {running.address}, user {USER}, password in {home.password}; end it with: make demo-stop")
    return 1 if wrong else 0


def _stop(options: argparse.Namespace) -> int:
    ended = services.stop(Home(options.home))
    _tell(f"stopped {', '.join(ended)}" if ended else "nothing to stop")
    return 0


def _status(options: argparse.Namespace) -> int:
    running = services.Services.of(Home(options.home))
    states = {member.name: bool(member.process) for member in running.members} if running else {}
    if options.json:
        print(json.dumps({"address": running.address if running else None, "services": states}))
    else:
        for name in services.COMMANDS:
            print(f"{name:15}{'running' if states.get(name) else 'not running'}")
        if running:
            print(f"at {running.address}")
    return 0 if running and running.running else 1


def _tell(words: str) -> None:
    if words:
        told.print(words, markup=False, highlight=False, soft_wrap=True)


def _land(home: Home) -> landing.Landing:
    hours = list(landing.hours_between(*landing.YEAR))
    with _progress("landing zone", 2 * len(hours), every=4380) as tell:
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            tell(done, "")

        return landing.ensure(home.lake / "landing", hours, advance=advance)


@contextmanager
def _progress(title: str, total: int, every: int = 1) -> Iterator[Callable[[int, str], None]]:
    """A bar in a terminal; elsewhere a line at every *every*-th step."""
    if not told.is_terminal:

        def line(done: int, words: str) -> None:
            if done % every == 0:
                _tell(f"{title}: {done} of {total} {words}".rstrip())

        yield line
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[words]}"),
    )
    with Progress(*columns, console=told, transient=True) as bar:
        task = bar.add_task(title, total=total, words="")
        yield lambda done, words: bar.update(task, completed=done, words=words)


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m demo",
        description="A year of flights and weather in New York, some days of it processed under Airflow with Spark.",
        epilog=EXAMPLES,
        formatter_class=form,
    )
    commands = parser.add_subparsers(required=True, metavar="start|stop|status")
    start = commands.add_parser(
        "start",
        help="make the data, start Airflow, process some days, check them",
        epilog=EXAMPLES,
        formatter_class=form,
    )
    start.add_argument("--day", type=_day, default=date(2013, 2, 8), help="a day of 2013 (default: %(default)s)")
    start.add_argument("--port", type=int, help=f"of the UI (default: {services.PORT}, or a free one)")
    start.add_argument("--quick", action="store_true", help="only that day, without the days around the clock changes")
    stop = commands.add_parser(
        "stop", help="end what start has started; its data stays", epilog=EXAMPLES, formatter_class=form
    )
    status = commands.add_parser("status", help="what is running", epilog=EXAMPLES, formatter_class=form)
    for command, function in ((start, _start), (stop, _stop), (status, _status)):
        command.add_argument(
            "--home", type=Path, default=CHECKOUT / ".demo", help="folder of all the demo makes (default: %(default)s)"
        )
        command.set_defaults(command=function)
        if command is not stop:
            command.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


def _day(text: str) -> date:
    day = date.fromisoformat(text)
    if day.year != 2013:
        raise argparse.ArgumentTypeError(f"{text} is not in 2013, the year of the data")
    return day


if __name__ == "__main__":
    sys.exit(main())
