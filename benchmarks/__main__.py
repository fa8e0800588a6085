"""All benchmarks, or one of them: ``python -m benchmarks core …``."""

from __future__ import annotations

import runpy
import sys

NAMES = (
    "core",
    "read_one",
    "read_many",
    "evaluation",
    "loop",
    "many",
    "batch_end",
    "events",
    "publish",
    "log",
    "frames",
    "tables",
    "write_many",
    "checks",
    "ledger",
    "doctor",
    "states",
    "requests",
    "fill",
    "upkeep",
    "polling",
    "view",
    "warm",
    "engines",
)

if __name__ == "__main__":
    chosen = sys.argv[1:2] if sys.argv[1:2] and sys.argv[1] in NAMES else []
    if sys.argv[1:] and not chosen:
        sys.exit(f"usage: python -m benchmarks [{'|'.join(NAMES)} [--help | options]]")
    failed = 0
    for name in chosen or NAMES:
        sys.argv = [f"python -m benchmarks.{name}", *sys.argv[2:]]
        try:
            runpy.run_module(f"benchmarks.{name}", run_name="__main__")
        except SystemExit as ended:
            if isinstance(ended.code, str):
                print(ended.code, file=sys.stderr)
            failed |= bool(ended.code)
    sys.exit(failed)
