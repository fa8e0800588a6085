"""``python -m demo``: start, look at and stop the demo."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import attrs
from rich.console import Console

from demo import backfill, comparison, landing, month, plan, processing, report, services, ways
from demo.api import Api
from demo.classes import archived
from demo.errors import DemoError
from demo.home import CHECKOUT, TASKS, USER, Home
from demo.iceberg import comparison as table_comparison
from demo.iceberg import course as table_course
from demo.iceberg import mistake, readers
from demo.iceberg import plan as table_plan
from demo.published import stored, totals
from demo.steps import Steps, minutes

EXAMPLES = """\
examples:
  python -m demo start --quick            an hour and a day of one airport, in two minutes
  python -m demo start                    then the rest of 8 February 2013, a snow storm, and both clock changes
  python -m demo start --day 2013-12-25   another day
  python -m demo start --iceberg          a day in tables of Iceberg instead, with a check that fails, in some minutes
  python -m demo start --examples         with the examples of AIP-76 in the UI, paused
  python -m demo start --json | jq .matches
  python -m demo status
  python -m demo stop

exit codes:
  0  all is well: every number matches what pandas counts; status: Airflow runs; stop: nothing runs any more
  1  a number differs, or a run failed; status: Airflow does not run
  2  the arguments are wrong
  3  the demo could not go on; the last line says why
  130  interrupted; Airflow goes on
"""

DIFFERENT, BROKEN, LEFT = 1, 3, 130  # exit codes; 2 is argparse's

# Seconds of a task beside those of the first Spark jobs, which start a driver each.
WARM, PYTHON = 0.2, 0.15

console = Console(stderr=True)  # steps and progress; results go to stdout


def main(arguments: list[str] | None = None) -> int:
    """Run one command; its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except DemoError as error:
        _tell(f"error: {error}")
        return BROKEN
    except KeyboardInterrupt:
        _tell("left; Airflow goes on with it: start comes back to it, stop ends it")
        return LEFT


def _start(options: argparse.Namespace) -> int:
    home, steps = Home(options.home), Steps(console)
    if options.iceberg:
        return _start_tables(options, home, steps)
    home.create()
    home.link("flights.py", *(["aip"] if options.examples else []))
    with ThreadPoolExecutor(1) as beside:  # while Airflow starts
        landed = beside.submit(_land, home, steps)
        running = services.start(home, options.port, steps.tell, services.FIRST)
        landing_zone = landed.result()
    with Api(running.address, USER, home.secret("password")) as api:
        ways.choose(api, ways.COLD)
        steps.tell("making an hour and a day of one airport: a Dag run and a Spark job each, with a driver of its own")
        course = processing.first(api, options.day, steps.progress, running.check)
        succeeded = all(run.state == "success" for run in course.runs)
        if succeeded and not options.json:
            for run in course.runs:
                report.show_partition(run, home.lake, Console())
        steps.tell(f"Airflow's UI: {running.address}, user {USER}, password {_password(home)}")
        goes_on = succeeded and not options.quick
        running = services.start(home, None, _quiet, services.COMMANDS if goes_on else services.COLD)
        if goes_on:
            ways.choose(api, ways.warm(home, running.check))
            steps.tell("from here on Spark runs already: a Connect server, by the type of Airflow's connection alone")
            steps.tell(f"going on with the rest: {_rest(api, course.runs, options.day)}")
            course = processing.everything(api, options.day, steps.progress, running.check)
            january = month.make(api, steps.progress, running.check)
            steps.tell(str(january))
        rows = report.collect(
            api,
            course.runs,
            lambda name: landing_zone.files.get(name) or stored(home.lake, name),
            partial(totals, home.lake),
        )
        failed = next((run for run in course.runs if run.state == "failed"), None)
        log = backfill.log_of(api, failed) if failed else ""
    counts = list(comparison.counts(rows, landing.source()))
    wrong = [*course.differences, *comparison.failures(rows), *comparison.differences(counts)]
    if goes_on:
        wrong += month.differences(home.lake, landing.source()["flights"])
    if not options.json:
        report.show(rows, Console())
        if course.again:
            report.show_firing(plan.AGAIN, course.again, Console())
    again = course.again and {"hour": plan.AGAIN, **attrs.asdict(course.again)}
    more = {"again": again, "month": attrs.asdict(january) if goes_on else None, "address": running.address}
    _print_result(options, rows, len(counts), wrong, more)
    if failed:  # the others failed for the same reason, as a rule
        _tell(f"the end of the log of {failed.asset} {failed.key}:\n{log}")
    rest = "; make demo goes on with the other days" if options.quick else ""
    steps.tell(f"done: Airflow goes on at {running.address}, make demo-stop ends it{rest}")
    return DIFFERENT if wrong else 0


def _start_tables(options: argparse.Namespace, home: Home, steps: Steps) -> int:
    home.create()
    home.link("flights_iceberg.py")
    flights = home.tables / "landing" / "flights"
    with archived(home, table_plan.PACKAGE), ThreadPoolExecutor(1) as beside:
        landed = beside.submit(mistake.land, flights, options.day)
        running = services.start(home, options.port, steps.tell, services.COLD)
        files = {"landing": landed.result()}
    with Api(running.address, USER, home.secret("password")) as api:
        ways.choose(api, ways.COLD)
        steps.tell(f"Airflow's UI: {running.address}, user {USER}, password {_password(home)}")
        steps.tell(f"bringing the flights of {options.day} to a table, one with a mistake; the airports follow")
        runs, refused = table_course.until_refused(api, options.day, flights, steps.progress, running.check)
        wrong = []
        if refused is None:
            wrong.append(f"no check has refused the mistake of {options.day}")
        else:
            steps.tell(f"a check has refused {refused.asset} {refused.key}, as it should:")
            _tell(backfill.error_of(api, refused))
            if refused in runs:  # and not repaired by a call before
                wrong += table_comparison.published(readers.by_pyiceberg(readers.tables(home)), refused)
        if all(run.state == "success" for run in runs if run.asset == table_plan.FLIGHTS):
            if refused in runs:
                steps.tell("repairing the landing zone, and bringing its flights again; the rest follows")
            runs = table_course.repaired(api, options.day, flights, steps.progress, running.check)
        steps.tell("reading the tables with plain pyiceberg, Spark, polars and DuckDB")
        files |= readers.files(home)
        frames, missing = readers.read(home)
        rows = report.collect(
            api,
            runs,
            files.__getitem__,
            lambda asset, key: table_comparison.totals(frames["pyiceberg"][asset], asset, key),
        )
    counts = list(table_comparison.counts(rows, frames, landing.source()["flights"]))
    wrong += [*comparison.failures(rows), *comparison.differences(counts)]
    more = {"iceberg": {"readers": list(frames), "left_out": missing}, "refused": refused and attrs.asdict(refused)}
    if not options.json:
        report.show_with_values(rows, table_comparison.TOTALS, Console())
        report.show_readers(table_comparison.overview(frames), Console())
    for name, reason in missing.items():
        steps.tell(f"{name} was left out: {reason}")
    _print_result(options, rows, len(counts), wrong, more | {"address": running.address})
    steps.tell(f"done: Airflow goes on at {running.address}, make demo-stop ends it")
    return DIFFERENT if wrong else 0


def _print_result(
    options: argparse.Namespace, rows: Sequence[report.Row], numbers: int, wrong: Sequence[str], more: dict[str, Any]
) -> None:
    """All as JSON, or the last line."""
    if options.json:
        result = {"partitions": [attrs.asdict(row) for row in rows], "numbers": numbers, "differences": wrong}
        print(json.dumps({**result, "matches": not wrong, **more}, indent=2))
    else:
        right = f"{numbers:,} numbers match what pandas counts"
        print("\n".join(["differs from what was expected:", *wrong]) if wrong else right, flush=True)


def _land(home: Home, steps: Steps) -> landing.Landing:
    before = steps.seconds
    landing_zone = landing.ensure(home.lake / "landing")
    files = sum(landing_zone.files.values())
    steps.tell(f"landing zone: {files:,} files, made in {steps.seconds - before:.0f} seconds")
    return landing_zone


def _password(home: Home) -> str:
    """Itself on a terminal; where it is, in what may be kept as a log."""
    file = home.password
    near = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    return home.secret("password") if console.is_terminal else f"in {near}"


def _rest(api: Api, runs: Sequence[backfill.Run], day: date) -> str:
    """What is to be made, and how long it will take, judging by the *runs* that were made."""
    targets = plan.everything(day)
    seconds = sum(backfill.seconds(api, run) for run in runs) / len(runs)
    jobs = sum(len(each.keys) for each in targets if each.asset != plan.HOURLY)
    hours = sum(len(each.keys) for each in targets if each.asset == plan.HOURLY)
    remaining = seconds * (jobs * WARM + hours * PYTHON) / TASKS
    return f"{jobs} partitions by Spark and {hours} by Python, in about {minutes(remaining)}"


def _stop(options: argparse.Namespace) -> int:
    names = services.stop(Home(options.home))
    _tell(f"stopped {', '.join(names)}" if names else "nothing to stop")
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
    console.print(words, markup=False, highlight=False, soft_wrap=True)


def _quiet(words: str) -> None:
    pass


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
    course = start.add_mutually_exclusive_group()
    course.add_argument(
        "--quick", action="store_true", help="stop after the first hour and the first day of an airport"
    )
    course.add_argument(
        "--iceberg", action="store_true", help="the flights of the day in tables of Iceberg, and what follows from them"
    )
    start.add_argument("--examples", action="store_true", help="load the examples of AIP-76, too (dags/aip), paused")
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
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day; expected one such as 2013-12-25") from None
    if day.year != 2013:
        raise argparse.ArgumentTypeError(f"{text} is not in 2013, the year of the data")
    return day


if __name__ == "__main__":
    sys.exit(main())
