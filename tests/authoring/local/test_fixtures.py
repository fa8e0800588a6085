"""The pytest fixtures, in tests of others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TEST = """
import socket

def test_it(partition_trial):
    with socket.create_server(("127.0.0.1", 0)) as server:
        left = socket.create_connection(server.getsockname())  # as py4j leaves some
"""


def test_en7_a_test_does_not_fail_by_what_py4j_leaves_open_where_warnings_are_errors(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (tmp_path / "test_it.py").write_text(TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 passed" in run.stdout, run.stdout + run.stderr
