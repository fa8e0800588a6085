"""Airflow's own API server with the plugin, on a metadata database, in a thread of the tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
import uvicorn
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from sqlalchemy import update
from sqlalchemy.orm import scoped_session, sessionmaker

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.engine.graph.partitioned_assets import partitioned_asset
from airflow_partitions.operate.requests.materialize import materialize
from tests.loopback import client_of
from tests.metadata import Metadata, engine, metadata
from tests.operate.rest.auth_manager import editor

__all__ = ["engine", "metadata"]

PREFIX = "/asset-partitions/api/v1"
SETTINGS = {
    "AIRFLOW__CORE__AUTH_MANAGER": "tests.operate.rest.auth_manager.DagAuthManager",
    "AIRFLOW__API_AUTH__JWT_SECRET": "of the tests, long enough for the hash that signs tokens, 64 bytes",
}
ESTATE = """
@asset(schedule="@daily", partition=PartitionByInterval("@daily", start="2013-01-01", end="2013-04-01"), dag_id="makes")
def days(): ...

@asset(schedule=days, partition=PartitionByProduct([
    PartitionByInterval("@daily", start="2013-01-01", end="2013-04-01", name="date"),
    PartitionBySequence(["EWR", "JFK", "a/b|c"], name="airport")]))
def airport_days(): ...

with DAG("others", schedule=Partitioned("@hourly", PartitionByInterval("@hourly", timezone="America/New_York"),
         asset=Asset("s3://lake/hours"))):
    EmptyOperator(task_id="write", outlets=[Asset("s3://lake/hours")])

@asset(schedule=None, partition=PartitionAtRuntime(name="customers"))
def customers(): ...
"""


@attrs.frozen
class Server:
    """The API server.

    :ivar address: where it listens.
    """

    address: str

    def client(self, user: SimpleAuthManagerUser | None = None) -> httpx.Client:
        """A client signed in by a token; without a *user*, by nothing."""
        from airflow.api_fastapi.app import get_auth_manager

        token = None if user is None else get_auth_manager().generate_jwt(user)
        return client_of(f"{self.address}{PREFIX}", token)


@attrs.frozen
class RunningApp:
    """Airflow's API app on a port.

    :ivar auth_manager: what it asks for the rights of a user.
    :ivar server: what runs it.
    """

    address: str
    auth_manager: Any
    server: uvicorn.Server

    def wait(self) -> None:
        """Wait until nothing is at work, also after the answer."""
        while self.server.server_state.tasks:
            time.sleep(0.01)


@pytest.fixture(scope="session")
def running_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """Airflow's API app; its database and settings are those of the test."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        passwords = tmp_path_factory.mktemp("api") / "passwords.json"
        patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE", str(passwords))
        patch.setattr("airflow.api_fastapi.app.init_access_logging", lambda app: None)  # it would print among answers
        patch.setattr("airflow.api_fastapi.app._AuthManagerState.instance", None)
        from airflow.api_fastapi.app import create_app

        app = create_app("core")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield RunningApp(f"http://127.0.0.1:{port}", app.state.auth_manager, server)
    server.should_exit = True
    thread.join()


@pytest.fixture
def server(running_app: RunningApp, metadata: Metadata, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The server, on an empty database."""
    from airflow import settings

    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    maker = sessionmaker(metadata.engine, expire_on_commit=False)
    monkeypatch.setattr(settings, "Session", scoped_session(maker))
    monkeypatch.setattr(settings, "NonScopedSession", maker)
    monkeypatch.setattr("airflow.api_fastapi.app._AuthManagerState.instance", running_app.auth_manager)
    yield Server(running_app.address)
    running_app.wait()  # it works on the database of the test


@pytest.fixture
def estate(server: Server, metadata: Metadata, tmp_path: Path) -> Metadata:
    """Some assets: of days, of a product, of hours under a name with slashes, and of keys at runtime."""
    metadata.parse(tmp_path, estate=ESTATE)
    unpause(metadata)
    return metadata


def unpause(metadata: Metadata) -> None:
    """Let all Dags run."""
    from airflow.models.dag import DagModel

    with metadata.engine.begin() as at:
        at.execute(update(DagModel).values(is_paused=False))


def ask_for(*keys: str) -> int:
    """The number of a new request for days."""
    asset = partitioned_asset("days")
    return materialize(asset, Selection.of(asset.definition, *keys), by="tests").id


@pytest.fixture
def client(server: Server, estate: Metadata) -> Iterator[httpx.Client]:
    """Somebody who may do all."""
    with server.client(editor()) as client:
        yield client


def problem(answer: httpx.Response) -> dict[str, Any]:
    """The problem document of an *answer*."""
    assert answer.headers["Content-Type"] == "application/problem+json", answer.text
    document: dict[str, Any] = answer.json()
    assert document["status"] == answer.status_code
    return document
