"""Tables of Iceberg's own REST catalog: what is tested with ours, as far as it needs no lost answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.storage.iceberg.java_rest_server import JARS, fetch

ROOT = Path(__file__).parents[3]
ALONE = ["unshare", "--map-root-user", "--net"]
TESTS = "makes or different_keys or one_key or moves_on"


@pytest.mark.spark
def test_icebergs_own_catalog_takes_what_ours_does(tmp_path: Path) -> None:
    try:
        subprocess.run([*ALONE, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network of its own can be made here: {error}")
    fetch(tmp_path / "jars")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "tests/storage/iceberg/test_rest.py"]
    tests = subprocess.run(
        [*ALONE, *words, "-k", TESTS, "--basetemp", str(tmp_path / "tests")],
        cwd=ROOT,
        env={**os.environ, JARS: str(tmp_path / "jars")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout + tests.stderr
    assert "4 passed" in tests.stdout
