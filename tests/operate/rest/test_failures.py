"""What failed and what got worse, over REST, with the rights of who asks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from airflow_partitions.engine.runs.run_errors import KILLED
from tests.metadata import Metadata
from tests.operate.rest.auth_manager import viewer
from tests.operate.rest.conftest import Server
from tests.operate.states.world import put_runs, put_tasks

pytestmark = pytest.mark.airflow


@pytest.fixture
def failed(estate: Metadata) -> Metadata:
    """A partition of two assets failed just now."""
    now = datetime.now(UTC)
    for dag_id, key, task_id in (("makes", "2013-03-01", "days"), ("airport_days", "2013-03-01|JFK", "airport_days")):
        put_runs(estate, dag_id, [key], "failed", now, end_date=now)
        put_tasks(estate, dag_id, [key], task_id, "failed", now)
    return estate


def test_one_is_told_only_of_what_one_may_read(server: Server, failed: Metadata) -> None:
    with server.client(viewer()) as client:
        (failure,) = client.get("/failures").json()["failures"]
        assert (failure["error"], failure["count"]) == (KILLED, 2)
        assert [one["asset"] for one in failure["assets"]] == ["airport_days", "days"]
        changes = client.get("/changes", params={"since": "2h"}).json()
        assert [(one["asset"], one["failed"]["partitions"]) for one in changes["assets"]] == [
            ("airport_days", "2013-03-01 of airport JFK"),
            ("days", "2013-03-01"),
        ]
        partition = client.get("/assets/days/partitions/2013-03-01").json()
        assert partition["runs"][0]["error"] == KILLED
    with server.client(viewer("makes")) as client:
        (failure,) = client.get("/failures").json()["failures"]
        assert [one["asset"] for one in failure["assets"]] == ["days"]
        assert [one["asset"] for one in client.get("/changes", params={"since": "2h"}).json()["assets"]] == ["days"]
        assert client.get("/failures", params={"asset": "airport_days"}).status_code == 403
        assert client.get("/changes", params={"since": "2h", "asset": "airport_days"}).status_code == 403


@pytest.mark.parametrize(
    ("path", "asked", "status"),
    [
        ("/changes", {"since": "yesterday"}, 422),
        ("/changes", {}, 422),
        ("/failures", {"since": "2999-01-01T00:00Z"}, 422),
        ("/failures", {"cursor": "zz"}, 422),
        ("/failures", {"asset": "dayz"}, 404),
    ],
)
def test_what_can_not_be_answered_is_refused(
    server: Server, failed: Metadata, path: str, asked: dict[str, str], status: int
) -> None:
    with server.client(viewer()) as client:
        answer = client.get(path, params=asked)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")
