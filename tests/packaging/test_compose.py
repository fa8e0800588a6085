"""The compose file is valid, and each service has a health check, a user other than root, and no secret of ours."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cluster.home import ClusterHome
from cluster.jars import PACKAGE
from cluster.services import services

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yaml").read_text())
EXAMPLE = dict(re.findall(r"^(\w+)=(.*)$", (ROOT / ".env.example").read_text(), flags=re.MULTILINE))
SERVICES = sorted(COMPOSE["services"])


def has_plugin() -> bool:
    try:
        return subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_it_follows_the_published_schema() -> None:
    schema = files("check_jsonschema").joinpath("builtin_schemas", "vendor", "compose-spec.json")
    jsonschema.validate(COMPOSE, json.loads(schema.read_text()))


@pytest.mark.skipif(not has_plugin(), reason="no docker compose here; the schema has been checked")
def test_docker_compose_accepts_it(tmp_path: Path) -> None:
    values = tmp_path / "values"
    values.write_text("".join(f"{name}=x\n" for name in EXAMPLE))
    command = ["docker", "compose", "--file", str(ROOT / "docker-compose.yaml"), "--env-file", str(values), "config"]
    process = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr


def test_the_services() -> None:
    twice = {f"{name}-{number}" for name in ("scheduler", "upkeep", "spark-worker") for number in (1, 2)}
    once = {"postgres", "init", "api-server", "dag-processor", "triggerer", "spark-master", "spark-connect", "s3"}
    assert once | twice == set(SERVICES)


@pytest.fixture
def home(tmp_path: Path) -> ClusterHome:
    return ClusterHome.opened(tmp_path)


def test_the_cluster_without_docker_has_the_same_services(home: ClusterHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cluster.services._postgres_files", lambda home: home.postgres)
    monkeypatch.setattr("cluster.services.class_path", lambda home: "x.jar")
    programs = {program.name: program for program in services(home)}
    assert set(programs) == set(SERVICES)
    for name in ("dag-processor", "upkeep-1", "upkeep-2"):
        assert list(programs[name].words[1:]) == COMPOSE["services"][name]["command"].split()
    for name in ("spark-master", "spark-worker-1", "spark-worker-2"):
        words = COMPOSE["services"][name]["entrypoint"] + COMPOSE["services"][name]["command"]
        assert programs[name].words[1] == words[1]
        assert all(value in programs[name].words for value in words if value in ("--cores", "2", "--memory", "3g"))
    places = ("spark.connect.grpc.", "spark://", "--")  # hosts and ports
    words = [word for word in COMPOSE["services"]["spark-connect"]["command"] if not word.startswith(places)]
    assert set(words) < set(programs["spark-connect"].words)


def test_airflow_has_the_settings_of_the_cluster_without_docker(home: ClusterHome) -> None:
    common = dict(re.findall(r"^(\w+)=(.*)$", (ROOT / "docker/airflow.env").read_text(), flags=re.MULTILINE))
    assert len(common) > 10
    assert common.items() <= home.environment({}).items()
    airflow = [service for service in COMPOSE["services"].values() if "AIRFLOW__CORE__FERNET_KEY" in str(service)]
    assert len(airflow) == 8
    for service in airflow:
        assert service["env_file"] == "docker/airflow.env"
        assert not common.keys() & service["environment"].keys()
    lake = set(COMPOSE["services"]["scheduler-1"]["environment"])
    assert {name for name in lake if name.startswith("AWS")} <= home.environment({}).keys()


def test_spark_has_the_settings_of_the_cluster_without_docker(home: ClusterHome) -> None:
    common = (ROOT / "docker" / "spark-defaults.conf").read_text()
    home.configure_spark("x.jar")
    own = (home.spark / "spark-defaults.conf").read_text()
    assert own.startswith(common)
    names = re.findall(r"^(spark\.\S+)", own, flags=re.MULTILINE)
    assert len(names) == len(set(names))
    assert (home.spark / "spark-defaults.conf").stat().st_mode & 0o077 == 0
    mount = "./docker/spark-defaults.conf:/opt/airflow/spark/conf/spark-defaults.conf:ro"
    for name in ("scheduler-1", "scheduler-2", "spark-master", "spark-worker-1", "spark-worker-2", "spark-connect"):
        assert mount in COMPOSE["services"][name]["volumes"]


def test_the_image_has_what_the_connect_server_needs() -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text()
    (code,) = re.findall(r"python -c '(from airflow_partitions[^']*)'", text)
    jar = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert Path(jar).suffix == ".jar"
    assert Path(jar).is_file()
    assert f"--packages {PACKAGE} " in text


@pytest.mark.parametrize("name", SERVICES)
def test_health_check(name: str) -> None:
    assert COMPOSE["services"][name]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")


@pytest.mark.parametrize("name", SERVICES)
def test_not_root(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["user"].split(":")[0] not in ("", "0", "root")
    assert service["cap_drop"] == ["ALL"]
    assert "privileged" not in service


@pytest.mark.parametrize("name", SERVICES)
def test_only_loopback_is_reachable(name: str) -> None:
    assert all(port.startswith("127.0.0.1:") for port in COMPOSE["services"][name].get("ports", []))


@pytest.mark.parametrize("name", SERVICES)
def test_secrets_are_asked_for(name: str) -> None:
    secret = re.compile(r"(PASSWORD|SECRET|_KEY)(_ID)?$")
    for variable, value in COMPOSE["services"][name].get("environment", {}).items():
        if secret.search(variable):
            assert re.fullmatch(r"\$\{\w+:\?[^}]+\}", value), f"{variable} has a value of its own"


def test_every_required_name_is_in_the_example_without_a_value() -> None:
    required = set(re.findall(r"\$\{(\w+):\?", (ROOT / "docker-compose.yaml").read_text()))
    assert required == set(EXAMPLE)
    assert set(EXAMPLE.values()) == {""}


def test_every_volume_is_declared() -> None:
    mounts = [mount for service in COMPOSE["services"].values() for mount in service.get("volumes", [])]
    assert {mount.split(":")[0] for mount in mounts if mount[0] != "."} == set(COMPOSE["volumes"])
