"""``python -m cluster``: start, look at and stop the cluster."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
from rich.console import Console

from cluster import landing, report, s3
from cluster.chaos import Chaos
from cluster.course import Course
from cluster.home import BUCKET, ClusterHome
from cluster.jars import class_path
from cluster.measures import measures
from cluster.plan import Plan, plan
from cluster.published import Published
from cluster.services import environment, services
from cluster.state import State
from cluster.supervisor import Supervisor
from demo import comparison
from demo.api import Api
from demo.backfill import Run, log_of
from demo.errors import DemoError
from demo.home import CHECKOUT, USER
from demo.landing import source
from demo.processes import end, spawn, tail
from demo.steps import Steps

EXAMPLES = """\
examples:
  python -m cluster start --quick     some hours cold and a day warm, in some minutes
  python -m cluster start             two days cold, and January 2013 warm
  python -m cluster start --chaos     the same, while one service after the other is killed
  python -m cluster start --json | jq .matches
  python -m cluster status
  python -m cluster stop

exit codes:
  0  all is well: every number matches what pandas counts, and nothing was made twice; status: all services do their
     work; stop: nothing runs any more
  1  a number differs, or a run failed; status: a service does not do its work
  2  the arguments are wrong
  3  the cluster could not go on; the last line says why
  130  interrupted; the cluster goes on
"""

DIFFERENT, BROKEN, LEFT = 1, 3, 130  # exit codes; 2 is argparse's
PATIENCE = 600.0  # seconds until all services must do their work
GRACE = 90.0  # seconds for the supervisor to end them

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
        _tell("left; the cluster goes on with it: start comes back to it, stop ends it")
        return LEFT


def _start(options: argparse.Namespace) -> int:
    steps, course_plan = Steps(console), plan(quick=options.quick)
    home = _running(ClusterHome.opened(options.home), options.port, steps)
    check = _checker(home)
    steps.tell(f"landing zone: {landing.ensure(home, course_plan.hours)} files brought to s3://{BUCKET}/landing")
    with Api(home.address, USER, home.secret("password")) as api:
        steps.tell(f"Airflow's UI: {home.address}, user {USER}, password in {home.password}")
        course, chaos = Course(home, api, steps, check), Chaos(home, steps.tell)
        runs: list[Run] = []
        for part in course_plan.parts:
            watch = chaos.watch if options.chaos and part.way == "warm" else _ignore
            newest = course.make(part, watch)
            runs += newest
            if any(run.state == "failed" for run in newest):
                break
        return _report(options, home, api, course_plan, runs, chaos)


def _report(
    options: argparse.Namespace,
    home: ClusterHome,
    api: Api,
    course_plan: Plan,
    runs: list[Run],
    chaos: Chaos,
) -> int:
    published = Published.read(home, course_plan.keys)
    rows, twice = report.rows(api, runs, published.totals)
    tables = source()
    lines = list(report.lines(course_plan.parts, rows, tables))
    missing = [
        f"{asset} {key}: was not made"
        for asset, keys in course_plan.keys.items()
        for key in keys
        if key not in published.keys[asset]
    ]
    wrong = [
        *missing,
        *twice,
        *comparison.failures(rows),
        *comparison.differences(comparison.counts(rows, tables)),
    ]
    numbers = sum(line.numbers for line in lines)
    taken = measures(home)
    if options.json:
        result = {
            "assets": [attrs.asdict(line) for line in lines],
            "parts": {name: attrs.asdict(measure) for name, measure in taken.items()},
            "killed": [attrs.asdict(death) for death in chaos.deaths],
            "numbers": numbers,
            "differences": wrong,
            "matches": not wrong,
            "address": home.address,
        }
        print(json.dumps(result, indent=2))
    else:
        report.show(lines, taken, Console())
        right = f"{numbers:,} numbers match what pandas counts, nothing was made twice"
        print("\n".join(["differs from what was expected:", *wrong]) if wrong else right, flush=True)
    if failed := next((run for run in runs if run.state == "failed"), None):
        _tell(f"the end of the log of {failed.asset} {failed.key}:\n{log_of(api, failed)}")
    _tell(f"done: the cluster goes on at {home.address}, make cluster-stop ends it")
    return DIFFERENT if wrong else 0


def _running(home: ClusterHome, port: int | None, steps: Steps) -> ClusterHome:
    """The home of a cluster all of whose services do their work; started if it was not."""
    state = State.of(home)
    if state and state.running:
        if port not in (None, home.ports["api-server"]):
            raise DemoError(f"the cluster runs at {home.address}; stop it first to have it at port {port}")
        steps.tell(f"the cluster runs already at {home.address}")
    else:
        if state:
            steps.tell("the supervisor of the last start has ended: ending what it has left")
            _end(home, state)
        home = home.with_free_ports(port)
        home.link("flights.py")
        with ThreadPoolExecutor(1) as beside:
            tools = beside.submit(services, home)  # PostgreSQL is installed and its files are made
            steps.tell("fetching what Spark needs for S3, where it is not there")
            home.configure_spark(class_path(home))
            programs = tools.result()
        steps.tell(f"starting {len(programs)} services; Airflow will be at {home.address}")
        log = home.log("supervisor")
        log.unlink(missing_ok=True)
        words = (sys.executable, "-m", "cluster", "supervise", "--home", str(home.root))
        supervisor = spawn("supervisor", words, environment(home), CHECKOUT, log)
        State(supervisor, ()).save(home)
    _wait(home, steps)
    return home


def _wait(home: ClusterHome, steps: Steps) -> None:
    deadline, check = time.monotonic() + PATIENCE, _checker(home)
    names = [program.name for program in services(home)]
    with steps.progress("services", len(names)) as tell:
        while time.monotonic() < deadline:
            check()
            state = State.of(home)
            if state and state.healthy:
                tell(len(names), "")
                return
            healthy = {each.name for each in state.services if each.healthy} if state else set()
            ill = [name for name in names if name not in healthy]
            tell(len(healthy), f"waiting for {', '.join(ill[:3])}")
            time.sleep(1)
    log = home.log(ill[0])
    raise DemoError(f"{ill[0]} does not do its work after {PATIENCE:.0f} seconds; the end of {log}:\n{tail(log)}")


def _checker(home: ClusterHome) -> Callable[[], None]:
    def check() -> None:
        """Raise if the cluster can't go on."""
        state = State.of(home)
        if state is None or not state.running:
            log = home.log("supervisor")
            raise DemoError(f"the supervisor has ended; the end of {log}:\n{tail(log)}")
        for each in state.services:
            if each.broken:
                log = home.log(each.name)
                raise DemoError(f"{each.name} ends whenever it is started; the end of {log}:\n{tail(log)}")

    return check


def _supervise(options: argparse.Namespace) -> int:
    home = ClusterHome.opened(options.home)
    Supervisor(home, services(home), environment(home)).run()
    return 0


def _init(options: argparse.Namespace) -> int:
    """Make Airflow's database, its password and the bucket."""
    home = ClusterHome.opened(options.home)
    home.write_password()
    subprocess.run(["airflow", "db", "migrate"], check=True, stdin=subprocess.DEVNULL)
    landing.make_bucket(home)
    return 0


def _s3(options: argparse.Namespace) -> int:
    home = ClusterHome.opened(options.home)
    s3.serve(home.ports["s3"], home.journal, home.secret("s3-access"))
    return 0


def _stop(options: argparse.Namespace) -> int:
    home = ClusterHome(options.home)
    state = State.of(home)
    if state is None:
        _tell("nothing to stop")
        return 0
    names = _end(home, state)
    _tell(f"stopped {', '.join(names)}" if names else "nothing to stop")
    return 0


def _end(home: ClusterHome, state: State) -> list[str]:
    """End all services, by the supervisor if it is there; the names of those that ran."""
    names = [each.name for each in state.services if each.process and each.process.process]
    if process := state.supervisor.process:
        process.terminate()
        deadline = time.monotonic() + GRACE
        while state.running and time.monotonic() < deadline:
            time.sleep(0.5)
    end([state.supervisor, *(each.process for each in (State.of(home) or state).services if each.process)])
    home.processes.unlink(missing_ok=True)
    return names


def _status(options: argparse.Namespace) -> int:
    home = ClusterHome(options.home)
    state = State.of(home)
    if state is None:
        if options.json:
            print(json.dumps({"address": None, "services": {}}))
        else:
            print("not running")
        return 1
    home = ClusterHome.opened(options.home)
    words = {each.name: _word(state, each) for each in state.services}
    if options.json:
        print(json.dumps({"address": home.address, "services": words}))
    else:
        for each in state.services:
            print(f"{each.name:15}{words[each.name]:15}{f'started {each.starts} times' if each.starts > 1 else ''}")
        print(f"at {home.address}" if state.running else "the supervisor has ended: make cluster starts all again")
    return 0 if state.healthy else 1


def _word(state: State, service: Any) -> str:
    if service.healthy and state.running:
        return "healthy"
    return "running" if service.process and service.process.process else "not running"


def _tell(words: str) -> None:
    console.print(words, markup=False, highlight=False, soft_wrap=True)


def _ignore(share: float) -> None:
    pass


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m cluster",
        description="The flights pipeline as in production, on this machine alone, without Docker.",
        epilog=EXAMPLES,
        formatter_class=form,
    )
    commands = parser.add_subparsers(required=True, metavar="start|stop|status")
    start = commands.add_parser(
        "start", help="start the cluster, process the hours, check them", epilog=EXAMPLES, formatter_class=form
    )
    start.add_argument("--port", type=int, help="of the UI (default: 8080, or a free one)")
    start.add_argument("--quick", action="store_true", help="four hours cold and a day warm")
    start.add_argument("--chaos", action="store_true", help="kill five services, one after the other, meanwhile")
    stop = commands.add_parser("stop", help="end all services; the data stays", epilog=EXAMPLES, formatter_class=form)
    status = commands.add_parser("status", help="what is running", epilog=EXAMPLES, formatter_class=form)
    inner = {name: commands.add_parser(name) for name in ("supervise", "init", "s3")}  # what start starts
    functions = {start: _start, stop: _stop, status: _status}
    functions |= {inner["supervise"]: _supervise, inner["init"]: _init, inner["s3"]: _s3}
    for command, function in functions.items():
        command.add_argument(
            "--home",
            type=Path,
            default=CHECKOUT / ".cluster",
            help="folder of all the cluster makes (default: %(default)s)",
        )
        command.set_defaults(command=function)
        if command in (start, status):
            command.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
