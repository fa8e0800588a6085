"""The REST app in the processes of Airflow: where it is loaded, and what it takes."""

from __future__ import annotations

import runpy
import subprocess
import sys

import httpx
import psutil
import pytest

from airflow_partitions import plugin
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor
from tests.operate.rest.conftest import Server

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


@pytest.mark.usefixtures("engine")
def test_tasks_and_schedulers_load_the_plugin_without_the_app() -> None:
    loaded = "[name for name in sys.modules if name.startswith('airflow_partitions.operate.rest') or name == 'fastapi']"
    program = f"import sys, airflow_partitions.plugin; print({loaded})"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = ["airflow_partitions.operate.rest", "airflow_partitions.operate.rest.mount"]
    assert process.stdout.splitlines()[-1] == str(modules)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("command", "loaded"),
    [("scheduler", True), ("dag-processor -B dags", True), ("celery worker", True), ("api-server", False), ("", False)],
)
def test_what_forks_tasks_and_parsers_has_loaded_what_dag_files_import(
    command: str, loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules: list[str] = []
    monkeypatch.setattr(sys, "argv", ["airflow", *command.split()])
    monkeypatch.setattr("importlib.import_module", modules.append)
    runpy.run_path(str(plugin.__file__))
    assert modules == ["airflow_partitions.authoring.assets"] * loaded


def test_an_api_server_grows_by_less_than_100_mb(server: Server, estate: Metadata) -> None:
    process = psutil.Process()
    with server.client(editor()) as client:
        client.get("/nothing")
        before = process.memory_info().rss
        for _ in range(10):
            ask_all(client)
    assert process.memory_info().rss - before < 100e6


def ask_all(client: httpx.Client) -> None:
    for path in ("openapi.json", "assets?counts=true", "doctor", "assets/days/states", "assets/days/keys?limit=1000"):
        assert client.get(f"/{path}").status_code == 200
    assert client.get("/assets/airport_days/partitions/2013-01-05%7CEWR").status_code == 200
    body = {"select": "all", "dry_run": True}
    assert client.post("/assets/days/requests", json=body).status_code == 200
