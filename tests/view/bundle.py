"""The sources of the bundle, and the programs that work on them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WWW = ROOT / "airflow_partitions" / "view" / "www"


def run(*words: str) -> None:
    """Run a program of the environment or of npm, in the folder of the sources."""
    programs = os.pathsep.join([str(WWW / "node_modules" / ".bin"), str(Path(sys.executable).parent)])
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "CI": "1", "NO_COLOR": "1"}
    process = subprocess.run(
        words, cwd=WWW, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr
