"""Airflow finds the package: as a provider, a plugin, a policy and a group of commands."""

from __future__ import annotations

import ast
import json
from importlib import import_module
from inspect import isclass
from pathlib import Path
from pydoc import locate

import pytest
from airflow.sdk import BaseOperator, BaseSensorOperator
from airflow.triggers.base import BaseTrigger

import airflow_partitions
from airflow_partitions.engine.database.models import Base
from airflow_partitions.provider import get_provider_info
from tests.scheduler.command_line import CommandLine


def airflow(command_line: CommandLine, *words: str) -> str:
    process = command_line.run(*words)
    process.check_returncode()
    return process.stdout


def test_airflow_lists_the_provider(command_line: CommandLine) -> None:
    listed = json.loads(airflow(command_line, "providers", "list", "--output", "json"))
    assert "airflow-partitions" in {provider["package_name"] for provider in listed}


def test_airflow_lists_the_plugin(command_line: CommandLine) -> None:
    shown = airflow(command_line, "plugins", "--output", "json")
    (plugin,) = [p for p in json.loads(shown[shown.index("[") :]) if p["name"] == "asset_partitions"]
    assert "airflow_partitions.engine.timetables.partitioned.Partitioned" in str(plugin["timetables"])


@pytest.mark.parametrize(
    ("words", "text"),
    [((), "test"), (("test",), "airport_days '2013-02-08|JFK'"), (("ddl",), "--table hive.lake.airport_days")],
)
def test_the_commands_show_help_with_examples(command_line: CommandLine, words: tuple[str, ...], text: str) -> None:
    assert text in airflow(command_line, "asset-partitions", *words, "--help")


def test_the_config_section_has_its_default(command_line: CommandLine) -> None:
    value = airflow(command_line, "config", "get-value", "asset_partitions", "max_sequence_length")
    assert value.split()[-1] == "1000"


def test_the_metadata_name_every_module_of_operators_sensors_and_triggers() -> None:
    info = get_provider_info()
    bases = {"operators": BaseOperator, "sensors": BaseSensorOperator, "triggers": BaseTrigger}
    names = {kind: {name for each in info[kind] for name in each["python-modules"]} for kind in bases}
    for kind, modules in names.items():
        for name in modules:
            classes = [each for each in vars(import_module(name)).values() if isclass(each) and each.__module__ == name]
            assert any(issubclass(each, bases[kind]) for each in classes), name
    public = {import_module(f"airflow_partitions{module}") for module in ("", ".spark")}
    exported = {getattr(module, name) for module in public for name in module.__all__ if not name.startswith("__")}
    sensors = {each.__module__ for each in exported if isclass(each) and issubclass(each, BaseSensorOperator)}
    operators = {each.__module__ for each in exported if isclass(each) and issubclass(each, BaseOperator)} - sensors
    assert (operators, sensors) == (names["operators"], names["sensors"])


def test_what_is_exported_is_told_to_type_checkers_too() -> None:
    """A name that is loaded when first used is imported for them; the site is made from these imports as well."""
    compared = 0
    for path in Path(airflow_partitions.__path__[0]).rglob("__init__.py"):
        body = ast.parse(path.read_text()).body
        lazy = [each for each in body if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "_MODULES"]
        blocks = [each for each in body if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING"]
        imports = [each for block in blocks for each in block.body if isinstance(each, ast.ImportFrom)]
        told = {alias.name for each in imports for alias in each.names}
        for assignment in lazy:
            assert not ast.literal_eval(assignment.value).keys() - told, path
            compared += 1
    assert compared


def test_the_guides_that_the_metadata_name_are_there() -> None:
    guides = [guide for each in get_provider_info()["integrations"] for guide in each["how-to-guide"]]
    assert guides
    assert [guide for guide in guides if not (Path(__file__).parents[2] / guide).is_file()] == []


def test_airflow_takes_the_metadata_and_finds_the_manager_of_our_tables() -> None:
    from airflow.providers_manager import ProvidersManager, _create_provider_info_schema_validator

    info = get_provider_info()
    _create_provider_info_schema_validator().validate(info)
    assert set(info["db-managers"]) <= set(ProvidersManager().db_managers)
    for name in info["db-managers"]:
        assert getattr(locate(name), "metadata", None) is Base.metadata
