"""The Java of this machine."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from shutil import which

#: Versions of Java that Spark runs on.
JAVA = (17, 21)


def java_version() -> int | None:
    """The major version of the Java that Spark would start here; ``None`` without one."""
    home = os.environ.get("JAVA_HOME")
    program = Path(home, "bin", "java") if home else which("java")
    try:
        words = [str(program), "-version"]
        answer = subprocess.run(words, capture_output=True, text=True, check=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)', answer.stderr)
    return None if match is None else int(match[1])
