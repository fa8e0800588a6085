"""A server behind a proxy that wants a header, and another token every few seconds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import grpc
import pytest

from airflow_partitions.core.errors import InvalidDefinitionError, MissingListenerError, SparkServerError
from airflow_partitions.spark.connect import session
from tests.spark.connect.proxy import CLUSTER, Proxy, proxied
from tests.spark.connect.task import task
from tests.spark.operator_task import execute

pytestmark = [
    pytest.mark.spark,
    pytest.mark.usefixtures("airflow"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    # Of the client, when it gives up.
    pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED"),
]

#: What the functions below, which a connection names, have to do with.
_state: dict[str, Any] = {}


def current_token() -> str:
    token: str = _state["proxy"].token()
    return token


def old_token() -> str:
    return "good-last-year"


def own_session(connection: Any) -> Any:
    from pyspark.sql.connect.session import SparkSession

    _state["asked"] = connection.conn_id
    return SparkSession.builder.remote(_state["url"]).create()


def no_session(connection: Any) -> Any:
    return 7


@pytest.fixture
def proxy_before(connect_server: str) -> Iterator[Callable[..., Any]]:
    yield lambda **choices: proxied(urlsplit(connect_server).netloc, **choices)
    _state.clear()


def connect(monkeypatch: pytest.MonkeyPatch, proxy: Proxy | None, **extra: Any) -> None:
    port = proxy.port if proxy else 1
    form = {"conn_type": "spark_connect", "host": "127.0.0.1", "port": port, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_WARM", json.dumps(form))
    _state["proxy"] = proxy


def longest(partition: Any, flights: Any) -> Any:
    return flights.where(flights.origin == partition["airport"]).groupBy("origin").max("delay").toDF("origin", "most")


def lingers(partition: Any, flights: Any) -> Any:
    """Goes on for longer than a token is good for."""
    import time

    flights.count()
    time.sleep(2.5)
    return flights.where(flights.origin == partition["airport"]).groupBy("origin").max("delay").toDF("origin", "most")


@pytest.mark.parametrize("header", ["authorization", "x-aws-proxy-auth"])
@pytest.mark.parametrize(
    ("count", "period"),
    [pytest.param(3, 2, id="short"), pytest.param(50, 60, id="long", marks=pytest.mark.long)],
)
def test_jobs_go_on_while_tokens_change(
    lake: Any,
    monkeypatch: pytest.MonkeyPatch,
    proxy_before: Callable[..., Any],
    header: str,
    count: int,
    period: float,
) -> None:
    with proxy_before(header=header, period=period) as proxy:
        connect(
            monkeypatch,
            proxy,
            headers=dict([CLUSTER]),
            token_function=f"{__name__}.current_token",
            token_header=header,
            token_seconds=3_600,  # so that only the refusal tells that it is old
        )
        for number in range(1, count + 1):
            event = execute(task(lake, lingers), lake, number)
            assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
            assert event["reads"]["flights"]["files"] == 48  # all 24, twice
        assert {"ExecutePlan", "Config"} <= {name for name, taken in proxy.calls if taken}
        assert proxy.refused > 0


def test_the_proxy_refuses_an_old_token_and_a_call_without_the_header(
    lake: Any, monkeypatch: pytest.MonkeyPatch, proxy_before: Callable[..., Any]
) -> None:
    with proxy_before(header="authorization", period=3_600) as proxy:
        for extra in (
            {"token_function": f"{__name__}.old_token", "headers": dict([CLUSTER])},
            {"token_function": f"{__name__}.current_token"},
        ):
            connect(monkeypatch, proxy, **extra)
            with pytest.raises(SparkServerError, match=r"refused the token; expected .* tells how to fetch") as refused:
                execute(task(lake, longest), lake)
            assert "good-" not in str(refused.value)
        assert proxy.refused == len(proxy.calls) > 2
        with grpc.insecure_channel(f"127.0.0.1:{proxy.port}") as channel:
            call = channel.unary_unary("/spark.connect.SparkConnectService/Config")
            with pytest.raises(grpc.RpcError, match="UNAUTHENTICATED"):
                call(b"", metadata=[CLUSTER, ("authorization", "Bearer good-last-year")])
    assert lake.rows() == []


def test_a_function_of_the_connection_makes_the_session(
    lake: Any, monkeypatch: pytest.MonkeyPatch, connect_server: str
) -> None:
    connect(monkeypatch, None, session=f"{__name__}.own_session", application_id="00f1")
    _state["url"] = connect_server
    event = execute(task(lake, longest), lake)
    assert (lake.rows(), _state["asked"]) == ([{"origin": "EWR", "most": 47.0}], "warm")
    assert event["unwatched"] == [session._FOREIGN]
    del _state["asked"]
    with pytest.raises(MissingListenerError, match=r"a strict job can't use the session .*expected strict=False"):
        execute(task(lake, longest, strict=True), lake, 2)
    assert "asked" not in _state


def test_what_is_no_session_is_refused(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, None, session=f"{__name__}.no_session")
    with pytest.raises(
        InvalidDefinitionError, match=r"returned a value of type builtins\.int; expected a SparkSession"
    ):
        execute(task(lake, longest), lake)
