"""The package has floors: imports only lead down, and never in a circle. The core stands alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import airflow_partitions

ROOT = Path(airflow_partitions.__file__).parent
PACKAGE = ROOT.name
#: Rooms of the package and modules beside them, from the ground up: each imports only itself and what stands before it.
FLOORS = (
    "exports",
    "release",
    "core",
    "storage",
    "frames",
    "checks",
    "engine",
    "spark",
    "authoring",
    "testing",
    "operate",
    "view",
    "plugin",
    "provider",
)
#: Floors within rooms, likewise.
CORE_FLOORS = ("storable", "errors", "versions", "calendars", "keys", "definitions", "dependencies", "partition")
ENGINE_FLOORS = ("database", "ledger", "timetables", "graph", "runs", "limits", "batches", "cluster_policy")
AUTHORING_FLOORS = ("assets", "arrival", "tasks", "deadline", "local")
OPERATE_FLOORS = (
    "state",
    "contract",
    "states",
    "requests",
    "upkeep",
    "asker",
    "operations",
    "urls",
    "partition_link",
    "cli",
    "rest",
)
STORAGE_FLOORS = (
    "filesystem",
    "layout",
    "ownership",
    "column_type",
    "policy",
    "dataset",
    "file_dataset",
    "metadata",
    "filters",
    "stores",
    "scan",
    "backend",
    "io",
    "commit",
    "consumers",
    "maintenance",
    "storage",
    "files",
    "formats",
    "sql",
    "file_backend",
    "iceberg",
)
#: Floors by room.
INNER_FLOORS = {
    "core": CORE_FLOORS,
    "storage": STORAGE_FLOORS,
    "engine": ENGINE_FLOORS,
    "authoring": AUTHORING_FLOORS,
    "operate": OPERATE_FLOORS,
}
#: The part that knows of no library but attrs.
CORE = ("exports", "core")
HEAVY = ("airflow", "pyspark", "pandas", "numpy", "pyarrow", "pyiceberg", "sqlalchemy", "pendulum", "fsspec")
#: Modules that only types tie together: a product of definitions has a time, and may have a definition of those of its
#: combinations that are added at runtime, whose types are definitions.
CIRCLES_OF_TYPES = {frozenset({"core.definitions.definition", "core.definitions.interval", "core.definitions.runtime"})}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


MODULES = {_name(path): path for path in sorted(ROOT.rglob("*.py")) if "node_modules" not in path.parts}


@cache
def syntax(module: str) -> ast.Module:
    """What stands in *module*."""
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports(module: str, *, types: bool) -> frozenset[str]:
    """Modules of the package that *module* imports, at its top or within a function.

    :param types: also those that it imports for type checkers only.
    """
    imported = _imported(syntax(module), types=types)
    names = {name.removeprefix(f"{PACKAGE}.") for name in imported if name.startswith(PACKAGE)}
    # from package.folder import name: a module of the folder, or what the folder itself gives.
    return frozenset(name if name in MODULES else name.rpartition(".")[0] for name in names) - {module}


def _imported(node: ast.AST, *, types: bool) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" and not types:
        return
    for child in ast.iter_child_nodes(node):
        yield from _imported(child, types=types)


def circles(graph: Mapping[str, frozenset[str]]) -> set[frozenset[str]]:
    """Sets of modules of which each reaches all the others."""
    reach = {module: set(below) for module, below in graph.items()}
    changed = True
    while changed:
        changed = False
        for below in reach.values():
            before = len(below)
            below.update(*(reach[module] for module in tuple(below)))
            changed |= len(below) > before
    return {
        frozenset(other for other in below if module in reach[other])
        for module, below in reach.items()
        if module in below
    }


def test_the_core_imports_nothing_heavy() -> None:
    core = [f"{PACKAGE}.{module}" for module in MODULES if module.partition(".")[0] in CORE]
    program = f"""
import importlib, sys
def check(module):
    importlib.import_module(module)
    loaded = sorted({{name.partition(".")[0] for name in sys.modules}} & set({HEAVY!r}))
    assert not loaded, f"{{module}} imports {{loaded}}"
for module in {["airflow_partitions", *core]!r}:
    check(module)
from airflow_partitions import PartitionByInterval
PartitionByInterval("@daily", timezone="America/New_York").parse("2013-01-01")
check("airflow_partitions")
"""
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT.parent, capture_output=True, text=True, check=False, timeout=60
    )
    assert process.returncode == 0, process.stderr


#: Providers whose operators bring the clients of platforms: seconds, for each reading of a Dag file.
PLATFORMS = tuple(
    f"airflow.providers.{name}.{kind}"
    for name in ("apache.spark", "amazon.aws", "databricks", "google.cloud", "cncf.kubernetes")
    for kind in ("hooks", "operators")
)


def test_declaring_a_spark_asset_imports_no_operator_of_a_platform(tmp_path: Path) -> None:
    program = tmp_path / "days.py"  # a function of it is read from its file
    program.write_text(f"""
import sys
from airflow_partitions import PartitionByInterval, spark_asset
from airflow_partitions.spark.engines import Databricks, DataprocServerless, EmrServerless, Glue, Kubernetes
from airflow_partitions.storage import Parquet

DAYS = Parquet("/lake/days", partition_on={{"day": "%Y-%m-%d"}})

@spark_asset(schedule=None, partition=PartitionByInterval("@daily", start="2013-01-01"), storage=DAYS)
def days(spark):
    return spark.range(1)

loaded = sorted(name for name in sys.modules if name.startswith({PLATFORMS!r}))
assert not loaded, loaded
""")
    process = subprocess.run(
        [sys.executable, program], cwd=ROOT.parent, capture_output=True, text=True, check=False, timeout=120
    )
    assert process.returncode == 0, process.stderr


def test_every_module_has_a_floor() -> None:
    assert {module.partition(".")[0] for module in MODULES if module} == set(FLOORS)
    for room, floors in INNER_FLOORS.items():
        assert {module.split(".")[1] for module in MODULES if module.startswith(f"{room}.")} == set(floors)


@pytest.mark.parametrize("module", [module for module in MODULES if module])
def test_imports_lead_down(module: str) -> None:
    room, *rest = module.split(".")
    below = imports(module, types=True)
    allowed = FLOORS[: FLOORS.index(room) + 1]
    assert not [name for name in below if name and name.partition(".")[0] not in allowed]
    if rest and (inner := INNER_FLOORS.get(room)):
        floors = inner[: inner.index(rest[0]) + 1]
        within = [name for name in below if name.partition(".")[0] == room]
        assert not [name for name in within if name.split(".")[1:2] == [] or name.split(".")[1] not in floors]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles({module: imports(module, types=False) for module in MODULES}) == set()


def test_types_tie_together_no_more_modules_than_they_must() -> None:
    assert circles({module: imports(module, types=True) for module in MODULES}) == CIRCLES_OF_TYPES


def test_no_code_asks_of_which_kind_a_dataset_is() -> None:
    """What differs between kinds is in their stores, backends, readers and writers, which their classes name."""
    kinds = {"Iceberg", "Files", "FileDataset", "Parquet", "Csv", "Json", "Orc", "Avro", "Text"}
    asked = [
        f"{module}:{node.lineno}"
        for module in MODULES
        for node in ast.walk(syntax(module))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
        and kinds & {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
    ]
    assert asked == []


#: Within this room a noun has a contract, a law, what comes of it, and a command: files and classes of one name each.
PARALLEL = "operate"
#: Names of files that stand for more than one thing. The list may only shrink.
REPEATED_FILES = {
    "arguments",
    "catalog",
    "connection",
    "corrections",
    "ddl",
    "interval",
    "mailbox",
    "open",
    "operator",
    "orphans",
    "own_past",
    "paths",
    "producers",
    "progress",
    "publish",
    "records",
    "request",
    "requests",
    "result",
    "schema",
    "selection",
    "sensor",
    "session",
    "statistics",
    "text",
    "trigger",
    "values",
}
#: Public classes likewise.
REPEATED_CLASSES = {
    "Asset",
    "Consumer",
    "Event",
    "Forgetting",
    "Forgotten",
    "KeyList",
    "Mark",
    "Measures",
    "Orphans",
    "Partition",
    "Places",
    "Request",
    "RunOptions",
    "RunRequest",
    "TaskRequest",
    "Upkeep",
    "Upstream",
}


def _repeated(places: Iterator[tuple[str, str]]) -> set[str]:
    """The names that stand in several rooms, or at several places of a room that has no parallels."""
    rooms: dict[str, list[str]] = {}
    for name, module in places:
        rooms.setdefault(name, []).append(module.partition(".")[0])
    return {name for name, some in rooms.items() if len(some) > 1 and set(some) != {PARALLEL}}


def test_no_more_files_have_the_name_of_another() -> None:
    files = ((module.rpartition(".")[2], module) for module, path in MODULES.items() if path.stem != "__init__")
    assert _repeated(files) == REPEATED_FILES


def test_no_more_classes_have_the_name_of_another() -> None:
    classes = (
        (node.name, module)
        for module in MODULES
        for node in syntax(module).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert _repeated(classes) == REPEATED_CLASSES
