"""What the page on calls over REST says is so."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from airflow_partitions.operate.contract.operations import OPERATIONS
from tests.docs.pages import ROOT, blocks, tables
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import editor
from tests.operate.rest.conftest import Server, unpause

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

PAGE = ROOT / "docs/operate/rest.md"
FLIGHTS = """
@asset(schedule="@daily", partition=PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01"))
def hourly_flights(): ...
"""


@pytest.mark.usefixtures("engine")
def test_every_operation_is_in_the_table_of_routes() -> None:
    rows = tables(PAGE, "Operation", "Route", "What it does")
    assert {row[0][0]: row[1][0] for row in rows} == {each.called(): each.route for each in OPERATIONS}


def test_the_calls_of_the_page_are_answered(server: Server, metadata: Metadata, tmp_path: Path) -> None:
    metadata.parse(tmp_path, flights=FLIGHTS)
    unpause(metadata)
    with server.client(editor()) as client:
        token = client.headers["Authorization"].removeprefix("Bearer ")
    calls = [block.text for block in blocks("bash") if block.page == PAGE.name and "/asset-partitions/" in block.text]
    assert len(calls) >= 3
    env = {**os.environ, "AIRFLOW": server.address, "TOKEN": token, "NO_PROXY": "127.0.0.1"}
    for call in calls:
        words = re.sub(r"curl -", "curl --fail-with-body -", call)
        process = subprocess.run(["bash", "-c", words], env=env, capture_output=True, text=True, check=False)
        assert process.returncode == 0, (call, process.stdout, process.stderr)
        assert json.loads(process.stdout)
