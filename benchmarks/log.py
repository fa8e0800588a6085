"""A log of many partitions, side by side with Delta Lake's by delta-rs: what is asked of it, and one more commit.

Both logs are told of one file for each hourly partition, in commits of 100,000, and then of a few more commits; no data
is written. Every question is asked by a process of its own, in turns: the time is the median of what it takes beyond
imports, the memory is the most that the whole process had. Delta gets an environment of its own under .bench/, where
the logs are kept too for the next time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.core import duration

ROOT = Path(__file__).parents[1]
DELTA = ("deltalake==1.6.6", "pyarrow")
ENVIRONMENT = ROOT / ".bench" / "deltalake"
LOGS = ROOT / ".bench" / "log"
SIDES = ("ours", "delta")
QUESTIONS = ("one", "hundred", "all", "replace")
TITLES = {"one": "one key", "hundred": "100 keys", "all": "all keys", "replace": "replace one"}
#: Seconds and MB, by number of partitions and question.
WANTED = {(100_000, "one"): (0.3, 150.0), (1_000_000, "one"): (1.0, float("inf"))}
EXAMPLES = """examples:
  python -m benchmarks.log
  python -m benchmarks.log --sizes 1000,100000 --rounds 3
  python -m benchmarks.log --json > log.json
"""


def delta_python(console: Console) -> Path:
    """The Python of an environment with delta-rs in it."""
    python, ready = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "ready"
    if not ready.exists():
        with console.status(f"making {ENVIRONMENT.relative_to(ROOT)} with {DELTA[0]} …"):
            subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *DELTA], check=True)
        (ENVIRONMENT.parent / ".gitignore").write_text("*\n", encoding="utf-8")
        ready.touch()
    return python


def ask(python: Path, side: str, path: Path, what: str, size: int) -> dict[str, float]:
    """What a process of *side* answers: seconds, MB and how many partitions."""
    command = [python, "-m", f"benchmarks.log_{side}", path, what, str(size)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environment)
    answer: dict[str, float] = json.loads(process.stdout)
    return answer


def run(sizes: list[int], rounds: int, console: Console) -> list[dict[str, Any]]:
    pythons = {"ours": Path(sys.executable), "delta": delta_python(console)}
    rows = []
    for size in sizes:
        for side in SIDES:
            path = LOGS / f"{size}-{side}"
            if not (path / "ready").exists():
                with console.status(f"{side}: making a log of {size:,} partitions …"):
                    shutil.rmtree(path, ignore_errors=True)
                    ask(pythons[side], side, path, "make", size)
                    (path / "ready").touch()
        for what in QUESTIONS:
            answers: dict[str, list[dict[str, float]]] = {side: [] for side in SIDES}
            for _ in range(rounds):
                for side in SIDES:
                    with console.status(f"{size:,}, {TITLES[what]}: {side} …"):
                        answers[side].append(ask(pythons[side], side, LOGS / f"{size}-{side}", what, size))
            counts = {answer["partitions"] for each in answers.values() for answer in each}
            if len(counts) > 1:
                raise SystemExit(f"the sides differ: {answers}")
            figures = {
                side: {name: statistics.median(answer[name] for answer in each) for name in ("seconds", "mb")}
                for side, each in answers.items()
            }
            seconds, mb = WANTED.get((size, what), (float("inf"), float("inf")))
            reached = figures["ours"]["seconds"] < seconds and figures["ours"]["mb"] < mb
            rows.append({"partitions": size, "question": what, **figures, "missed": not reached})
    return rows


def show(rows: list[dict[str, Any]], console: Console) -> None:
    table = Table(caption=f"{os.cpu_count()} CPUs, {platform.machine()}, load {os.getloadavg()[0]:.1f}")
    for heading in ("partitions", "", "ours", "delta-rs", "ratio", "ours, MB", "delta-rs, MB", "wanted"):
        table.add_column(heading, justify="right" if heading else "left")
    for row in rows:
        ours, delta = row["ours"], row["delta"]
        seconds, mb = WANTED.get((row["partitions"], row["question"]), (0.0, float("inf")))
        limits = (f"< {duration(seconds)}" if seconds else "") + (f", < {mb:.0f} MB" if mb < float("inf") else "")
        table.add_row(
            f"{row['partitions']:,}",
            TITLES[row["question"]],
            duration(ours["seconds"]),
            duration(delta["seconds"]),
            f"{delta['seconds'] / ours['seconds']:.1f} x",
            f"{ours['mb']:.0f}",
            f"{delta['mb']:.0f}",
            f"[red]{limits}[/]" if row["missed"] else limits,
        )
    console.print(table)


def main() -> int:
    """Run the benchmark; 1 if something wanted was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.log",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", default="1000,100000,1000000", metavar="N,…", help="partitions of the logs")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often each is asked (default: 5)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    chosen = parser.parse_args()
    rows = run([int(size) for size in chosen.sizes.split(",")], chosen.rounds, Console(stderr=True))
    if chosen.json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows, Console())
    return 1 if any(row["missed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
