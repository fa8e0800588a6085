"""The core stands alone, and each of its parts knows only the parts before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import airflow_partitions

ROOT = Path(airflow_partitions.__file__).parent
#: In order: a part imports only what stands before it.
PARTS = ("errors", "calendars", "keys", "definitions", "dependencies", "partition")
HEAVY = ("airflow", "pyspark", "pandas", "numpy", "pyarrow", "sqlalchemy", "pendulum", "fsspec")
MODULES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for part in PARTS
    for path in ([ROOT / f"{part}.py"] if (ROOT / f"{part}.py").exists() else (ROOT / part).glob("*.py"))
)


def test_the_core_imports_nothing_heavy() -> None:
    program = f"""
import importlib, sys
def check(module):
    importlib.import_module(module)
    loaded = sorted({{name.partition(".")[0] for name in sys.modules}} & set({HEAVY!r}))
    assert not loaded, f"{{module}} imports {{loaded}}"
for module in {["airflow_partitions", *MODULES]!r}:
    check(module)
from airflow_partitions import PartitionByInterval
PartitionByInterval("@daily", timezone="America/New_York").parse("2013-01-01")
check("airflow_partitions")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT.parent, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_forward_only(module: str) -> None:
    path = ROOT.parent / Path(*module.split("."))
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)} | {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    ours = {name.split(".")[1] for name in imported if name and name.startswith("airflow_partitions.")}
    own = PARTS.index(module.split(".")[1])
    assert ours <= set(PARTS[: own + 1]), f"{module} imports {sorted(ours)}"
