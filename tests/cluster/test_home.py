"""The cluster's folder: ports that are free, secrets that are made up, settings of nobody else."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from cluster import services
from cluster.home import PORTS, ClusterHome
from demo.errors import DemoError


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody else has."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_that_is_taken_is_replaced_and_the_others_stay(tmp_path: Path, taken: int) -> None:
    home = ClusterHome.opened(tmp_path)
    assert home.ports == PORTS
    before = home.with_free_ports(None).ports
    after = home.at({**before, "s3": taken}).with_free_ports(None)
    assert after.ports["s3"] != taken
    assert {**after.ports, "s3": 0} == {**before, "s3": 0}
    assert ClusterHome.opened(tmp_path).ports == after.ports
    assert str(after.ports["s3"]) in after.endpoint
    assert f"127.0.0.1:{after.ports['postgres']}" in after.database


def test_a_port_that_was_asked_for_and_is_taken_is_refused(tmp_path: Path, taken: int) -> None:
    with pytest.raises(DemoError, match=f"port {taken} is taken"):
        ClusterHome.opened(tmp_path).with_free_ports(taken)


def test_secrets_are_made_up_and_private(tmp_path: Path) -> None:
    home, other = ClusterHome.opened(tmp_path / "one"), ClusterHome.opened(tmp_path / "two")
    environment = home.environment({})
    Fernet(environment["AIRFLOW__CORE__FERNET_KEY"])
    for name in ("AIRFLOW__CORE__FERNET_KEY", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "AWS_SECRET_ACCESS_KEY"):
        assert environment[name] != other.environment({})[name]
        assert environment[name] == ClusterHome.opened(tmp_path / "one").environment({})[name]
    assert home.root.stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in (home.root / "secrets").iterdir())


def test_no_secret_is_on_a_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cluster.services._postgres_files", lambda home: home.postgres)
    monkeypatch.setattr("cluster.services.class_path", lambda home: "x.jar")
    home = ClusterHome.opened(tmp_path)
    words = {word for program in services.services(home) for word in program.words}
    home.environment({})
    home.configure_spark("x.jar")
    secrets = [file.read_text() for file in (home.root / "secrets").iterdir()]
    assert len(secrets) >= 7
    assert not any(secret in word for secret in secrets for word in words)


def test_settings_of_other_stores_and_sparks_are_left_out(tmp_path: Path) -> None:
    home = ClusterHome.opened(tmp_path)
    outer = {"AWS_PROFILE": "work", "AWS_SESSION_TOKEN": "x", "SPARK_REMOTE": "sc://x", "AIRFLOW__CORE__EXECUTOR": "X"}
    inner = home.environment(outer)
    assert not {"AWS_PROFILE", "AWS_SESSION_TOKEN", "SPARK_REMOTE", "AIRFLOW_CONN_SPARK_DEFAULT"} & set(inner)
    assert inner["AIRFLOW__CORE__EXECUTOR"] == "LocalExecutor"
    connection = json.loads(inner["AIRFLOW_CONN_LAKE_S3"])
    assert (connection["conn_type"], connection["extra"]["endpoint_url"]) == ("aws", home.endpoint)
