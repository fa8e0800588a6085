"""Stands for Slurm: what ``sbatch``, ``sacct`` and ``scancel`` do is written to a folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ["SLURM_FOLDER"])


def main(command: str, words: list[str]) -> None:
    """Do what *command* does."""
    words = [word for word in words if word not in ("--noheader", "--parsable2")]
    options = dict(zip(words[::2], words[1::2], strict=True))
    job = FOLDER / f"{options.get('--name') or options['--job-name']}.json"
    if command == "sbatch":
        assert not job.exists()
        tell(job, state="PENDING")
        subprocess.Popen(
            [sys.executable, __file__, "run", "--name", job.stem, "--wrap", options["--wrap"]],
            stdin=subprocess.DEVNULL, stdout=(FOLDER / "log").open("wb"), stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    elif command == "run":
        tell(job, state="RUNNING", pid=os.getpid())
        program = os.environ.get("SLURM_PROGRAM")
        code = subprocess.run(program or options["--wrap"], shell=True, check=False).returncode
        tell(job, state="FAILED" if code else "COMPLETED")
    elif command == "scancel":
        os.killpg(json.loads(job.read_text())["pid"], signal.SIGKILL)
        tell(job, state="CANCELLED by 1")
    elif job.exists():
        sys.stdout.write(json.loads(job.read_text())["state"] + "\n")


def tell(job: Path, **said: object) -> None:
    """Write down how *job* is, in one step."""
    draft = job.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(said))
    draft.replace(job)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
