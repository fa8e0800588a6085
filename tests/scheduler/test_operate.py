"""Operate over REST and from the command line, on a real API server and scheduler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from airflow_partitions.operations.rest import URL_PREFIX, VERSION_PREFIX
from tests.scheduler.conftest import Airflow

DATABASES = ("postgresql",)  # the database has little to do with it
pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def operated(airflow: Airflow) -> str:
    airflow.write(
        "operated",
        """
        DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-11")

        @asset(schedule=None, dag_id="operated", partition=DAYS)
        def operated_days(partition):
            if partition.text == "2013-01-03" and not (OUT / "mended").exists():
                raise ValueError("not yet")
        """,
    )
    return "operated_days"


def token(airflow: Airflow) -> str:
    answer = airflow.api._client.headers["Authorization"]
    return str(answer).removeprefix("Bearer ")


def command(airflow: Airflow, *words: str) -> tuple[int, Any]:
    """Run a command that asks the API server; its exit status and answer."""
    program = f"{Path(sys.executable).parent}/airflow"
    process = subprocess.run(
        [program, "asset-partitions", *words, "--output", "json", "--url", airflow.services.address],
        env=airflow.home.environment(dict(os.environ)) | {"AIRFLOW_CLI_TOKEN": token(airflow)},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert process.stdout, process.stderr
    return process.returncode, json.loads(process.stdout)


def test_a_range_is_filled_seen_and_what_failed_is_made_again(airflow: Airflow, operated: str) -> None:
    headers = {"Authorization": f"Bearer {token(airflow)}"}
    base = f"{airflow.services.address}{URL_PREFIX}{VERSION_PREFIX}"
    with httpx.Client(base_url=base, headers=headers, timeout=60, trust_env=False) as client:

        def counts() -> dict[str, int]:
            answer: dict[str, int] = client.get(f"/assets/{operated}/counts").json()["counts"]
            return answer

        assert counts() == {"missing": 10}
        body = {"select": "2013-01-02..2013-01-06", "label": "the first week"}
        (request,) = client.post(f"/assets/{operated}/requests", json=body).json()["requests"]
        path = f"/requests/{request['id']}"
        airflow.wait(lambda: client.get(path).json()["state"] in ("done", "failed"), "the request has ended")
        assert client.get(path).json()["runs"] == {"success": 3, "failed": 1}
        assert counts() == {"failed": 1, "materialised": 3, "missing": 6}
        assert command(airflow, "status", operated, "2013-01-02..2013-01-06")[0] == 1
        _, why = command(airflow, "explain", operated, "2013-01-03")
        assert why["state"] == "failed"
        (airflow.out / "mended").touch()
        assert client.post(f"{path}/retry", json={}).json()["state"] in ("creating", "running")
        airflow.wait(lambda: client.get(path).json()["state"] == "done", "the failed run was repeated")
        assert command(airflow, "status", operated, "2013-01-02..2013-01-06")[0] == 0
    keys = [key for key, _, _ in airflow.runs("operated")]
    assert sorted(keys) == ["2013-01-02", "2013-01-03", "2013-01-04", "2013-01-05"]
