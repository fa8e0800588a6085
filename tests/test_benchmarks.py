"""The benchmarks, which are run by hand, name nothing that is no more."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[1] / "benchmarks").rglob("*.py"))
OURS = ("airflow_partitions", "benchmarks", "demo", "tests")


def imports(file: Path) -> Iterator[tuple[str, str]]:
    """Module and name of each import of ours in a *file*, wherever it stands."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.partition(".")[0] in OURS:
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_what_a_benchmark_imports_of_ours_is_there(file: Path) -> None:
    gone = [
        f"{module}.{name}"
        for module, name in imports(file)
        if not (hasattr(import_module(module), name) or find_spec(f"{module}.{name}"))
    ]
    assert gone == []
