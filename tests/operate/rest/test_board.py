"""Boards over REST and on the command line, with the rights of who asks."""

from __future__ import annotations

import pytest

from tests.metadata import Metadata
from tests.operate.rest.auth_manager import viewer
from tests.operate.rest.conftest import Server

pytestmark = [pytest.mark.airflow, pytest.mark.parametrize("engine", ["sqlite"], indirect=True, scope="module")]

WINTER = {"since": "2013-01-01T00:00Z", "until": "2013-03-31T12:00Z"}


def test_what_one_may_not_read_is_left_out_and_counted(server: Server, estate: Metadata) -> None:
    estate.emit("days", "2013-01-01")
    with server.client(viewer()) as client:
        board = client.get("/board", params=WINTER).json()
        assert [strip["asset"] for strip in board["strips"]] == ["days", "airport_days", "customers", "s3://lake/hours"]
        assert (board["hidden"], len(board["columns"])) == (0, 90)
        assert board["strips"][0]["counts"] == {"materialized": 1, "missing": 89}
        assert board["strips"][1]["upstream"] == ["days"]
        assert not any(strip["may_change"] for strip in board["strips"])
    with server.client(viewer("airport_days")) as client:
        board = client.get("/board", params=WINTER).json()
        (strip,) = board["strips"]
        assert (strip["asset"], strip["upstream"], board["hidden"]) == ("airport_days", [], 3)
        assert client.get("/board", params={"asset": "days"}).status_code == 403
        assert client.get("/board", params={"columns": 401}).status_code == 422
