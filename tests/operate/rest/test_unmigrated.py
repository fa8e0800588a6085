"""REST on a database without our tables."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import text

from airflow_partitions.engine.database import connection
from airflow_partitions.engine.database.revision import REVISION, VERSION_TABLE, problem
from tests.metadata import Metadata
from tests.operate.rest.conftest import problem as document


@pytest.fixture(params=[None, "ffffffffffff"], ids=["missing", "newer"])
def stored(request: pytest.FixtureRequest, client: httpx.Client, estate: Metadata) -> Iterator[str | None]:
    """The revision of the database: that of none, or of a release to come."""

    def stamp(revision: str | None) -> None:
        with estate.engine.begin() as at:
            at.execute(text(f"DELETE FROM {VERSION_TABLE}"))
            if revision is not None:
                at.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES ('{revision}')"))

    stamp(request.param)
    connection._MIGRATED.pop(estate.engine, None)  # as in a server that starts
    yield request.param
    stamp(REVISION)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/assets", None),
        ("GET", "/assets/days", None),
        ("GET", "/assets/days/keys", None),
        ("GET", "/assets/days/states", None),
        ("GET", "/requests", None),
        ("GET", "/doctor", None),
        ("POST", "/assets/days/requests", {"select": "2013-01-01"}),
        ("POST", "/assets/days/mark", {"select": "2013-01-01"}),
        ("POST", "/assets/days/reconcile", {}),
    ],
)
def test_each_route_says_what_to_run(
    client: httpx.Client, stored: str | None, method: str, path: str, body: dict[str, str] | None
) -> None:
    answer = document(client.request(method, path, json=body))
    assert answer["status"] == 503
    assert answer["title"] == "Not migrated"
    assert answer["detail"] == problem(stored)
