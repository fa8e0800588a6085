"""Each name of Airflow's that the package imports is there, in whatever release of it is installed."""

from __future__ import annotations

import ast
import importlib
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import airflow_partitions

ROOT = Path(airflow_partitions.__file__).parent


def imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of each import of Airflow's, wherever it stands, but for those that only mypy reads."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "airflow":
        yield from ((node.module, alias.name) for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imports(child)


NAMES: dict[str, set[str]] = defaultdict(set)
for python in sorted(ROOT.rglob("*.py")):
    for module, name in imports(ast.parse(python.read_text())):
        NAMES[module].add(name)


@pytest.mark.airflow
@pytest.mark.parametrize("module", sorted(NAMES))
def test_what_the_package_imports_of_airflow_is_there_and_not_deprecated(module: str) -> None:
    with warnings.catch_warnings(action="error"):
        there = importlib.import_module(module)
        for name in sorted(NAMES[module]):
            # What Airflow sets when a task begins is only announced.
            if not hasattr(there, name) and name not in there.__annotations__:
                importlib.import_module(f"{module}.{name}")
