"""What the pages say is so: links lead somewhere, code is code, examples are Dags, tables give what they say."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from airflow.cli.cli_parser import _add_command

import airflow_partitions
from airflow_partitions import PartitionByInterval, PartitionKey
from airflow_partitions.operate.cli.commands import get_commands
from airflow_partitions.operate.state import State
from tests.docs.pages import GENERATED, PAGES, ROOT, Block, anchors, blocks, links, tables

if TYPE_CHECKING:
    from airflow_partitions.authoring.local import Trial

#: What pages may import from.
PUBLIC = {f"airflow_partitions{name}" for name in ("", ".checks", ".spark", ".spark.engines", ".storage", ".testing")}
KEYS, CALENDARS = ROOT / "docs/concepts/partitions.md", ROOT / "docs/concepts/calendars.md"
TEMPLATES = ROOT / "docs/guides/templates.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if target in GENERATED:
            continue
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_parses_and_imports_names_that_exist(block: Block) -> None:
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("airflow_partitions"):
            module = importlib.import_module(node.module)
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_eh4_names_of_arguments_are_those_that_there_are(block: Block) -> None:
    tree, known = ast.parse(block.text), dict[str, Any]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("airflow_partitions"):
            module = importlib.import_module(node.module)
            known |= {alias.asname or alias.name: getattr(module, alias.name) for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in known:
            parameters = inspect.signature(known[node.func.id]).parameters
            if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
                assert {each.arg for each in node.keywords if each.arg} <= set(parameters), ast.unparse(node)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_imports_are_of_public_packages(page: Path) -> None:
    modules = set(re.findall(r"^\s*`?from (airflow_partitions[\w.]*) import", page.read_text(), re.MULTILINE))
    assert modules <= PUBLIC


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_json_parses(block: Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("block", blocks("yaml"), ids=str)
def test_yaml_parses(block: Block) -> None:
    assert yaml.safe_load(block.text)


@pytest.mark.parametrize("block", [block for block in blocks("yaml") if "expr:" in block.text], ids=str)
def test_alerts_are_about_metrics_that_are_sent(block: Block) -> None:
    page = ROOT / "docs/operate/monitoring.md"
    names = {name for (name,), *_ in tables(page, "Name, after Airflow's prefix", "Kind", "Of all assets")}
    states = "|".join(state.value for state in State)
    known = {re.sub(r"<state>", f"({states})", f"airflow_{name.replace('.', '_')}") for name in names}
    alerted = set(re.findall(r"airflow_\w+", block.text))
    assert [name for name in alerted if not any(re.fullmatch(pattern, name) for pattern in known)] == []


COMMANDS = sorted(
    {
        (command, str(block))
        for block in blocks("console", "bash")
        for command in re.findall(r"^(?:\$ )?airflow (asset-partitions .*)", block.text, re.MULTILINE)
    }
)


@pytest.mark.parametrize(("command", "block"), COMMANDS, ids=[" ".join(each) for each in COMMANDS])
def test_commands_are_taken_as_they_are_printed(
    command: str, block: str, parser: ArgumentParser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "failed.txt").write_text("2013-02-08\n")  # which a command reads
    words = shlex.split(re.split(r" [|>&]", command)[0].rstrip("\\").replace("…", "x"), comments=True)
    parser.parse_args(words)


@pytest.fixture(scope="module")
def parser() -> ArgumentParser:
    """Airflow's own, with our commands only."""
    parser = ArgumentParser(exit_on_error=False)
    groups = parser.add_subparsers(required=True)
    for group in get_commands():
        _add_command(groups, group)
    return parser


@pytest.mark.parametrize("block", blocks("pycon"), ids=str)
def test_sessions_give_what_they_show(block: Block) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, {}, str(block), block.page, block.line)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


def test_excerpts_are_what_the_file_says() -> None:
    excerpts = [block for block in blocks("python") if block.taken_from]
    assert excerpts
    for block in excerpts:
        assert block.text in (ROOT / block.taken_from).read_text(), str(block)


SHOW = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
from airflow.serialization.serialized_objects import DagSerialization
bag = DagBag(sys.argv[1])
for dag in bag.dags.values():
    DagSerialization.from_dict(json.loads(json.dumps(DagSerialization.to_dict(dag))))
env, told = {}, []
for dag_id, key, texts in json.loads(sys.argv[2]):
    from types import SimpleNamespace
    from airflow.sdk.execution_time.context import MacrosAccessor
    dag = bag.dags[dag_id]
    run = SimpleNamespace(partition_key=key, run_id="r", run_after=None, start_date=None)
    context = {"dag": dag, "dag_run": run, "macros": MacrosAccessor()}
    told += [dag.get_template_env().from_string(text).render(context) for text in texts]
with open(sys.argv[3], "w") as file:
    json.dump({"dags": sorted(bag.dags), "errors": bag.import_errors, "rendered": told}, file)
"""


def parse(home: Path, files: dict[str, str], templates: list[Any]) -> dict[str, Any]:
    """Parse *files* below a fresh AIRFLOW_HOME, in a process of its own."""
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    settings = {"AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    outer = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
    process = subprocess.run(
        [sys.executable, "-c", SHOW, home / "dags", json.dumps(templates), home / "answer.json"],
        env={**outer, **settings},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert process.returncode == 0, process.stderr
    answer: dict[str, Any] = json.loads((home / "answer.json").read_text())
    return answer


def test_eu1_the_examples_of_the_start_are_a_dag_file_as_printed(tmp_path: Path) -> None:
    examples = [block.text for block in blocks("python") if block.page == "start.md" and not block.file]
    answer = parse(tmp_path, {"dags/example.py": "\n".join(examples)}, [])
    assert answer["errors"] == {}
    assert answer["dags"] == ["airport_days", "hourly_report", "sales", "weeks"]


def test_examples_are_dag_files_and_plugins(tmp_path: Path) -> None:
    files = {block.file: block.text for block in blocks("python") if block.file}
    assert [str(block) for block in blocks("python") if block.file and block.text != files[block.file]] == []
    answer = parse(tmp_path, files, [])
    assert answer["errors"] == {}
    assert set(answer["dags"]) >= {"day", "delays", "hourly", "sales", "welcome", "worst"}


def test_what_is_shown_to_those_who_come_from_flyte_runs(tmp_path: Path, partition_trial: Callable[..., Trial]) -> None:
    import pandas as pd

    functions: dict[str, Any] = {}
    for block in blocks("python"):
        if block.page == "coming-from-flyte.md" and block.file:
            file = tmp_path / Path(block.file).name
            file.write_text(block.text.replace('("/', f'("{tmp_path}/'))
            functions |= runpy.run_path(str(file), run_name=file.stem)

    def made(name: str, key: str, **frames: Any) -> list[dict[str, Any]]:
        trial = partition_trial(functions[name], key, inputs=frames or None)
        records: list[dict[str, Any]] = trial.value.to_dict("records")
        return records

    assert made("people", "2024-03-31") == [{"name": "Ann", "age": 41}, {"name": "Tom", "age": 20}]
    assert made("ages", "2024-03-31", people=pd.DataFrame({"age": [41, 20]})) == [{"age": 30.5}]
    amounts = pd.DataFrame(made("region_sales", "2024-03-31|eu"))
    eu, us = amounts.assign(region="eu"), amounts.assign(region="us", amount=1.0)
    totals = [{"region": "eu", "amount": 5.5}, {"region": "us", "amount": 2.0}]
    assert made("totals", "2024-03-31", region_sales=pd.concat([eu, us])) == totals
    growth = made("growth", "2024-03-31", today=pd.concat([eu, us]), before=pd.concat([eu, us.assign(amount=0.0)]))
    assert growth == [{"region": "eu", "amount": 0.0}, {"region": "us", "amount": 2.0}]
    assert made("scores", "eu") == [{"score": 2.0}]
    assert made("best", "world", scores=pd.DataFrame({"score": [2.0, 7.0]})) == [{"score": 7.0}]


def test_templates_give_what_the_table_says(tmp_path: Path) -> None:
    example, *_ = [block for block in blocks("python") if block.page == "templates.md"]
    rows = tables(TEMPLATES, "In other Dags", "In a partitioned Dag", "Gives")
    texts = [template for _, (template,), _ in rows]
    answer = parse(tmp_path, {"dags/flights.py": example.text}, [["flights", "2013-11-03|JFK", texts]])
    assert answer["rendered"] == [text for _, _, (text,) in rows]


def test_er17_the_filter_of_the_example_is_in_iso_8601(tmp_path: Path) -> None:
    source = (ROOT / "dags/aip/external_table.py").read_text()
    bounds = re.findall(r"'(\{\{.*?\}\})'", source)
    answer = parse(tmp_path, {"dags/example.py": source}, [["daily_sales_data", "2013-02-08", bounds]])
    assert answer["rendered"] == ["2013-02-08T00:00:00+00:00", "2013-02-09T00:00:00+00:00"]


def test_keys_have_the_text_the_table_says() -> None:
    class Position(PartitionKey):
        x: float
        y: float
        z: float

    names = {name: getattr(airflow_partitions, name) for name in airflow_partitions.__all__}
    names |= {"Position": Position, "date": date, "time": time, "timedelta": timedelta, "Decimal": Decimal}
    for (definition,), texts, _ in tables(KEYS, "Definition", "Canonical text", "Rule"):
        partitions = eval(definition, names)
        assert [str(partitions.parse(text)) for text in texts] == texts, definition


def test_clock_changes_give_as_many_hours_as_the_table_says() -> None:
    rows = tables(CALENDARS, "Zone", "Day", "What the clock does", "Hourly partitions of the day", "Daily partition")
    assert len(rows) == 7
    for (zone,), (text,), _, (hours,), (day, *_) in rows:
        start = date.fromisoformat(text)
        count = PartitionByInterval("@hourly", timezone=zone).count(start, start + timedelta(days=1))
        assert str(count) == hours.partition(";")[0].strip()
        keys = [str(key) for key in PartitionByInterval("@daily", timezone=zone).keys(start, start + timedelta(days=1))]
        assert keys == ([] if day.startswith("none") else [day])
