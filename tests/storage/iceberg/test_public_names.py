"""What is used of pyiceberg are names that it publishes: private ones change without notice."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from airflow_partitions.storage.iceberg import iceberg_store, table

MODULES = [*sorted(Path(table.__file__).parent.glob("*.py")), Path(iceberg_store.__file__)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_no_private_name_is_used(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    imported = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pyiceberg")
        for alias in node.names
    ]
    assert not [name for name in imported if any(part.startswith("_") for part in name.split("."))]
    for name in imported:
        package, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(package), attribute), f"{name} is gone: see the changes of pyiceberg"
    own = ("self", "cls")
    private = [
        f"{ast.unparse(node)} in line {node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in own)
    ]
    assert not private


def test_the_package_says_which_extra_is_missing() -> None:
    program = """
import sys
sys.modules["pyiceberg"] = None
from airflow_partitions.core.errors import StorageError
try:
    import airflow_partitions.storage.iceberg.iceberg_store
except StorageError as error:
    assert "pip install 'airflow-partitions[iceberg]'" in str(error), error
else:
    raise AssertionError
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert process.returncode == 0, process.stderr


def test_storage_does_not_load_it_before_there_is_a_table() -> None:
    program = "import airflow_partitions, airflow_partitions.storage, sys; assert 'pyiceberg' not in sys.modules"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert process.returncode == 0, process.stderr
