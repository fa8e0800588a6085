"""The reference is up to date and has all public names."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_up_to_date() -> None:
    process = subprocess.run(
        [sys.executable, DOCS / "build.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize("module", ["", ".storage", ".frames", ".spark", ".spark.engines", ".authoring.local"])
def test_every_public_name_has_an_entry(module: str) -> None:
    headings = re.findall(r"^### (\w+)$", (DOCS / "reference.md").read_text(), re.MULTILINE)
    public = set(importlib.import_module(f"airflow_partitions{module}").__all__) - {"__version__"}
    assert public <= set(headings)


def test_every_error_has_an_entry() -> None:
    from airflow_partitions.core import errors

    headings = re.findall(r"^### (\w+Error)$", (DOCS / "reference.md").read_text(), re.MULTILINE)
    assert headings == [name for name in vars(errors) if name.endswith("Error")]
