"""The core side by side with Dagster: listing keys, questions about one key, products, dependencies, import.

Both sides run in processes of their own and are asked in turns; the table shows medians of processor time, so that
other work on the machine counts little. Dagster gets an environment of its own under .bench/, made the first time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from benchmarks.cases import CASES, END, START, Case

ROOT = Path(__file__).parents[1]
DAGSTER = "1.13.28"
ENVIRONMENT = ROOT / ".bench" / "dagster"
ZONES = ("UTC", "America/New_York")
IMPORTS = (
    Case("import", "import, new process", wanted_microseconds=100_000),
    Case("first_answer", "import, define, next key, new process"),
)
_PROGRAMS = {
    ("import", "ours"): "import airflow_partitions; from airflow_partitions import PartitionByInterval",
    ("import", "dagster"): "import dagster",
    ("first_answer", "ours"): f"""
from airflow_partitions import PartitionByInterval
definition = PartitionByInterval("@hourly", timezone="America/New_York", start="{START}", end="{END}")
definition.next(definition.parse("2020-05-05T05:00-04:00"))""",
    ("first_answer", "dagster"): f"""
from dagster import HourlyPartitionsDefinition
definition = HourlyPartitionsDefinition("{START}-00:00", "{END}-00:00", timezone="America/New_York")
definition.get_next_partition_key("2020-05-05-05:00")""",
}
_EXAMPLES = """examples:
  python -m benchmarks.core                         everything, five rounds, about five minutes
  python -m benchmarks.core --only product,next     some of it
  python -m benchmarks.core --rounds 15 --json      more rounds, for a program to read
"""


def main() -> int:
    """Run the benchmark; 1 if something wanted was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.core",
        description=__doc__.splitlines()[0],
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each side is asked (default: 5)")
    parser.add_argument("--only", metavar="CASE,…", help=f"of: {', '.join(c.name for c in (*CASES, *IMPORTS))}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args()
    names = {case.name for case in (*CASES, *IMPORTS)}
    only = set(chosen.only.split(",")) if chosen.only else names
    if unknown := only - names:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    if chosen.rounds < 1:
        parser.error("--rounds: at least 1")

    progress = Console(stderr=True)
    python = dagster_environment(progress)
    results = measure(python, [case for case in (*CASES, *IMPORTS) if case.name in only], chosen.rounds, progress)
    report = {
        "rounds": chosen.rounds,
        "machine": f"{os.cpu_count()} CPUs, {platform.machine()}, Python {platform.python_version()}",
        "dagster": DAGSTER,
        "results": results,
    }
    if chosen.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)
    return 1 if any(result["missed"] for result in results) else 0


def dagster_environment(console: Console, *besides: str) -> Path:
    """The Python of an environment with Dagster in it.

    :param besides: packages that are to be there, too.
    """
    folder = ENVIRONMENT.with_name("-".join((ENVIRONMENT.name, *besides)))
    python = folder / "bin" / "python"
    ready = folder / f"dagster-{DAGSTER}"
    if not ready.exists():
        with console.status(f"making {folder.relative_to(ROOT)} with dagster {DAGSTER} …"):
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", f"dagster=={DAGSTER}", *besides], check=True)
        (folder.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        ready.touch()
    return python


def measure(dagster: Path, cases: list[Case], rounds: int, console: Console) -> list[dict[str, Any]]:
    """The seconds of each case, zone and side: the sides by turns, round after round."""
    questions = [(case, zone) for case in cases for zone in (("-",) if case in IMPORTS else ZONES)]
    seconds: dict[tuple[str, str, str], list[float]] = {}
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with (
        worker(Path(sys.executable), "benchmarks.core_ours") as ours,
        worker(dagster, "benchmarks.core_dagster") as theirs,
        Progress(*columns, console=console, transient=True) as progress,
    ):
        task = progress.add_task("starting", total=rounds * len(questions))
        for _ in range(rounds):
            for case, zone in questions:
                progress.update(task, description=f"{case.title} ({zone})")
                if case in IMPORTS:
                    answers = [fresh(Path(sys.executable), case, "ours"), fresh(dagster, case, "dagster")]
                else:
                    answers = [ours(case.name, zone)] + ([] if case.alone else [theirs(case.name, zone)])
                if len({answer["count"] for answer in answers}) > 1:
                    raise SystemExit(f"{case.title} ({zone}): the sides differ: {answers}")
                for side, answer in zip(("ours", "dagster"), answers, strict=False):
                    answer_seconds = answer["seconds"] / (answer["count"] if case.each else 1)
                    seconds.setdefault((case.name, zone, side), []).append(answer_seconds)
                progress.advance(task)
    return [
        comparison(case, zone, seconds[case.name, zone, "ours"], seconds.get((case.name, zone, "dagster"), []))
        for case, zone in questions
    ]


def comparison(case: Case, zone: str, ours: list[float], dagster: list[float]) -> dict[str, Any]:
    """Medians of both sides, and whether what was wanted is reached."""
    mine, theirs = statistics.median(ours), statistics.median(dagster) if dagster else None
    ratio = None if theirs is None else theirs / mine
    too_slow = case.wanted_microseconds is not None and mine * 1e6 > case.wanted_microseconds
    return {
        "case": case.name,
        "title": case.title,
        "zone": zone,
        "ours_seconds": mine,
        "dagster_seconds": theirs,
        "ratio": ratio,
        "wanted": thresholds(case),
        "missed": too_slow or (case.wanted_ratio is not None and ratio is not None and ratio < case.wanted_ratio),
        "ours_all": ours,
        "dagster_all": dagster,
    }


def thresholds(case: Case) -> str:
    """What is wanted of a case, in words."""
    if case.wanted_ratio is not None:
        return f"{case.wanted_ratio:,.0f} x"
    return "" if case.wanted_microseconds is None else f"< {duration(case.wanted_microseconds / 1e6)}"


@contextmanager
def worker(python: Path, module: str) -> Iterator[Callable[[str, str], dict[str, Any]]]:
    """A process that answers questions, asked by the returned function."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    with subprocess.Popen(
        [python, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        questions, answers = process.stdin, process.stdout

        def ask(case: str, zone: str) -> dict[str, Any]:
            print(json.dumps([case, zone]), file=questions, flush=True)
            line = answers.readline()
            if not line:
                raise SystemExit(f"{module} ended at {case} ({zone}); its error is above")
            answer: dict[str, Any] = json.loads(line)
            return answer

        yield ask
        questions.close()


def fresh(python: Path, case: Case, side: str) -> dict[str, Any]:
    """The seconds a program takes in a new process, without the start of Python."""
    program = (
        f"from time import process_time; s = process_time()\n{_PROGRAMS[case.name, side]}\nprint(process_time() - s)"
    )
    process = subprocess.run(
        [python, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return {"seconds": float(process.stdout), "count": 1}


def show(report: dict[str, Any]) -> None:
    """Print the table."""
    table = Table(
        title=f"airflow_partitions and Dagster {report['dagster']}, processor time, medians of {report['rounds']}",
        caption=report["machine"],
    )
    for heading in ("", "zone"):
        table.add_column(heading)
    for heading in ("ours", "Dagster", "ratio", "wanted"):
        table.add_column(heading, justify="right")
    for result in report["results"]:
        theirs = result["dagster_seconds"]
        ratio = "" if theirs is None else f"{result['ratio']:,.{0 if result['ratio'] >= 100 else 1}f} x"
        table.add_row(
            result["title"],
            result["zone"],
            duration(result["ours_seconds"]),
            "" if theirs is None else duration(theirs),
            f"[red]{ratio}[/]" if result["missed"] else ratio,
            f"[red]{result['wanted']}[/]" if result["missed"] else result["wanted"],
        )
    console = Console()
    console.print(table) if console.is_terminal else Console(width=110).print(table)


def duration(seconds: float) -> str:
    """Seconds in a unit that suits them."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


if __name__ == "__main__":
    sys.exit(main())
