"""The URL of a server, made of Airflow's connection."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airflow_partitions.core.errors import InvalidDefinitionError, StorageError

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def address(monkeypatch: pytest.MonkeyPatch, **connection: Any) -> str:
    from airflow_partitions.spark.connect.address import address_of
    from airflow_partitions.spark.connection import connection_of

    monkeypatch.setenv("AIRFLOW_CONN_WARM", json.dumps({"conn_type": "spark_connect", **connection}))
    return address_of(connection_of("warm"))


def test_it_is_that_of_airflows_own_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    assert address(monkeypatch, host="sc://spark.example.org", port=15002) == "sc://spark.example.org:15002/"
    assert address(monkeypatch, host="spark.example.org", login="ann") == "sc://spark.example.org/;user_id=ann"


def test_a_token_goes_to_localhost_or_by_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    local = address(monkeypatch, host="sc://localhost", port=15002, password="a b&c")
    assert local == "sc://localhost:15002/;token=a%20b%26c"
    safe = address(monkeypatch, host="sc://spark.example.org", password="secret", extra={"use_ssl": True})
    assert safe == "sc://spark.example.org/;token=secret;use_ssl=True"


def test_a_token_goes_in_clear_to_this_machine_and_where_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    header = "authorization=Bearer%20secret"
    assert address(monkeypatch, host="sc://127.0.0.1", password="secret") == f"sc://127.0.0.1/;{header}"
    said = {"allow_token_in_clear": True, "use_ssl": False}
    assert address(monkeypatch, host="sc://spark", password="secret", extra=said) == f"sc://spark/;{header}"
    with pytest.raises(InvalidDefinitionError, match=r"token would go to spark in clear; expected \"use_ssl\": true"):
        address(monkeypatch, host="sc://spark", password="secret")


def test_a_connection_without_a_host_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidDefinitionError, match="connection 'warm' has no host; expected that of a Spark Connect"):
        address(monkeypatch)


def test_a_connection_of_another_type_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StorageError, match=r"'warm' is of type 'http'; expected spark for .* or spark_connect"):
        address(monkeypatch, conn_type="http", host="example.org")
