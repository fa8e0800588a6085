"""The compose file is valid, and each service has a health check, a user other than root, and no secret of ours."""

from __future__ import annotations

import json
import re
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

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
    once = {"postgres", "init", "api-server", "dag-processor", "triggerer", "spark-master", "s3"}
    assert once | twice == set(SERVICES)


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
