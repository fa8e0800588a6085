"""The link from a task instance to its partition, as Airflow's API gives it to its pages."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from sqlalchemy.orm import Session

from tests.metadata import LONG_AGO, Metadata
from tests.operate.rest.auth_manager import editor
from tests.operate.rest.conftest import Server

PAGES = "/plugin/partitions"

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]


def run(metadata: Metadata, dag_id: str, key: str | None) -> None:
    """A run with its task instances, as the scheduler makes it."""
    from airflow.models.dag_version import DagVersion
    from airflow.models.serialized_dag import SerializedDagModel
    from airflow.utils.types import DagRunTriggeredByType, DagRunType

    with Session(metadata.engine) as at:
        row = SerializedDagModel.get(dag_id, session=at)
        assert row is not None
        dag: Any = row.dag
        made = dag.create_dagrun(
            run_id="run1",
            run_after=LONG_AGO,
            run_type=DagRunType.MANUAL,
            triggered_by=DagRunTriggeredByType.TEST,
            state="queued",
            partition_key=key,
            session=at,
        )
        version = DagVersion.get_latest_version(dag_id, session=at)
        assert version is not None
        made.verify_integrity(dag_version_id=version.id, session=at)
        at.commit()


def links(server: Server, dag_id: str, task_id: str) -> Any:
    with server.client(editor()) as client:
        url = f"{server.address}/api/v2/dags/{dag_id}/dagRuns/run1/taskInstances/{task_id}/links"
        answer = httpx.get(url, headers={"Authorization": client.headers["Authorization"]}, trust_env=False)
        assert answer.status_code == 200, answer.text
        link = answer.json()["extra_links"]["Partition"]
        if link is not None:
            assert client.get(link.removeprefix(PAGES)).json()["key"] in link.replace("%3A", ":")
        return link


def test_a_task_instance_leads_to_its_partition(server: Server, estate: Metadata) -> None:
    run(estate, "makes", "2013-02-08")
    run(estate, "others", "2013-02-08T05:00-05:00")
    assert links(server, "makes", "days") == f"{PAGES}/assets/days/partitions/2013-02-08"
    hours = f"{PAGES}/assets/s3%3A%2F%2Flake%2Fhours/partitions/2013-02-08T05%3A00-05%3A00"
    assert links(server, "others", "write") == hours


def test_a_task_instance_without_a_partition_has_no_link(server: Server, estate: Metadata) -> None:
    run(estate, "customers", None)
    assert links(server, "customers", "customers") is None
