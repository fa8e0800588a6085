"""An archive of the classes a Spark job loads: a job that finds it starts in half the time.

Java writes it at the end of a trial job. Without it, or with that of another Java, jobs run as well, only slower.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demo.home import JAVA_OPTIONS, Home

TRIAL = Path(__file__).with_name("trial.py")


@contextmanager
def archived(home: Home, packages: str = "") -> Iterator[None]:
    """Make the archive beside what the block does; it is there at its end.

    :param packages: for Spark to fetch meanwhile, once for all jobs that need them.
    """
    if home.classes.exists() and not packages:
        yield
        return
    partial = home.classes.with_suffix(".partial")
    environment = {
        **home.environment(dict(os.environ)),
        "SPARK_SUBMIT_OPTS": f'{JAVA_OPTIONS} "-XX:ArchiveClassesAtExit={partial}"',
    }
    words = [
        "spark-submit",
        "--master",
        "local[1]",
        "--conf",
        "spark.ui.enabled=false",
        *(["--packages", packages] if packages else []),
        str(TRIAL),
        str(home.root / "trial"),
    ]
    with (home.logs / "trial.log").open("w") as out:
        trial = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        yield
        if trial.wait() == 0 and partial.exists():
            partial.rename(home.classes)
    finally:
        trial.kill()
        shutil.rmtree(home.root / "trial", ignore_errors=True)
