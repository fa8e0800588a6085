"""What the extra of a connection says of headers and tokens, and what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from airflow_partitions.core.errors import InvalidDefinitionError, PartitionError, SparkServerError
from airflow_partitions.spark.connect.renewed_token import RenewedToken

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

SECRET = "s3cr3t-t0ken"
_HERE = __name__


def gives() -> Any:
    return SECRET


def gives_a_pair() -> Any:
    return SECRET, 60


def gives_bytes() -> Any:
    return SECRET.encode()


def raises() -> Any:
    raise OSError(SECRET)


not_a_function = SECRET


def access(monkeypatch: pytest.MonkeyPatch, password: str | None = None, host: str = "localhost", **extra: Any) -> Any:
    from airflow_partitions.spark.connect.access import access_of
    from airflow_partitions.spark.connection import connection_of

    form = {"conn_type": "spark_connect", "host": host, "password": password, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_WARM", json.dumps(form))
    return access_of(connection_of("warm"))


def printing(text: str, code: int = 0) -> list[str]:
    return [sys.executable, "-c", f"import sys; print({text!r}); sys.exit({code})"]


def test_each_way_gives_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_LOGIN", json.dumps({"conn_type": "generic", "password": SECRET}))
    for way in (
        {"token_function": f"{_HERE}.gives"},
        {"token_function": f"{_HERE}.gives_a_pair"},
        {"token_command": printing(SECRET)},
        {"token_conn_id": "login"},
    ):
        found = access(monkeypatch, **way)
        assert found.token.current() == SECRET
        assert SECRET not in repr(found)
        assert found.header == "authorization"
    assert access(monkeypatch).token is None


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"header": {}}, r"has 'header' in its extra; expected any of .* did you mean 'headers'\?"),
        ({"token_function": "a.b", "token_command": ["a"]}, "has token_function and token_command; expected one way"),
        ({"token_function": "no_such_module.f"}, "can't be imported .* expected a dotted name"),
        ({"token_function": f"{_HERE}.no_such"}, "can't be imported .* expected a dotted name"),
        ({"token_function": f"{_HERE}.not_a_function"}, "is of type str; expected a dotted name"),
        ({"token_function": 3}, "token_function=3 in its extra; expected a dotted name"),
        ({"token_command": "our-login"}, "token_command in its extra is of type str; expected a list of words"),
        ({"token_conn_id": 3}, "token_conn_id 3 in its extra; expected the id"),
        ({"token_conn_id": "a", "token_seconds": 0}, "token_seconds=0 in its extra; expected seconds"),
        ({"token_header": "x-auth"}, "has token_header in its extra, and no token that is fetched"),
        ({"headers": ["a"]}, "headers in its extra is of type list; expected values by name"),
        ({"headers": {"X-Cluster": "a"}}, "'X-Cluster' in headers is no header that gRPC takes; .*as in 'x-cluster'"),
        ({"headers": {"x-raw-bin": "a"}}, "'x-raw-bin' in headers is no header that gRPC takes"),
        ({"headers": {"grpc-timeout": "a"}}, "'grpc-timeout' in headers is no header that gRPC takes"),
        ({"headers": {"x-name": "ü"}}, "the value of header 'x-name' is no text that gRPC takes"),
        ({"headers": {"authorization": "a"}, "token_conn_id": "a"}, "'authorization' in its headers, and a token"),
        ({"session": f"{_HERE}.gives", "headers": {}}, "has headers beside session in its extra"),
        ({"session": "no_such_module.f"}, "session='no_such_module.f' in its extra can't be imported"),
    ],
)
def test_what_is_not_understood_is_refused(monkeypatch: pytest.MonkeyPatch, extra: Any, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        access(monkeypatch, **extra)


def test_a_password_beside_another_token_is_refused_and_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidDefinitionError, match="has token_conn_id and a password; expected one way") as refused:
        access(monkeypatch, SECRET, token_conn_id="login")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("way", "error", "message"),
    [
        (
            {"token_function": f"{_HERE}.gives_bytes"},
            InvalidDefinitionError,
            "returned a value of type bytes; expected",
        ),
        ({"token_function": f"{_HERE}.raises"}, SparkServerError, "raised OSError; expected a token"),
        ({"token_command": printing(SECRET, 3)}, SparkServerError, "ended with exit code 3; expected one that prints"),
        ({"token_command": printing("")}, SparkServerError, "gave an empty token"),
        ({"token_command": printing(f"{SECRET}\n{SECRET}")}, SparkServerError, "expected one line of printable ASCII"),
        ({"token_command": ["/no/such/login"]}, SparkServerError, "can't be run .*; expected one that prints a token"),
        ({"token_conn_id": "nowhere"}, InvalidDefinitionError, "is no connection of Airflow; expected the id of one"),
    ],
)
def test_a_token_that_is_not_there_is_told_without_it(
    monkeypatch: pytest.MonkeyPatch, way: Any, error: type[PartitionError], message: str
) -> None:
    token = access(monkeypatch, **way).token
    with pytest.raises(error, match=message) as refused:
        token.current()
    assert SECRET not in str(refused.value)
    assert refused.value.__suppress_context__ or SECRET not in str(refused.value.__cause__)


@pytest.mark.parametrize("extra", [{"token_function": f"{_HERE}.gives"}, {"headers": {"x-proxy-auth": SECRET}}])
def test_no_token_goes_to_another_host_in_clear(monkeypatch: pytest.MonkeyPatch, extra: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="its token would go to spark in clear") as refused:
        access(monkeypatch, host="spark", **extra)
    assert SECRET not in str(refused.value)
    for said in ({"use_ssl": True}, {"allow_token_in_clear": True}):
        assert "sc://spark/" in access(monkeypatch, host="sc://spark", **extra, **said).url + "/"
    assert access(monkeypatch, host="spark", headers={"x-databricks-cluster-id": "1"}).url


def test_a_token_is_fetched_again_when_it_is_old_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("airflow_partitions.spark.connect.renewed_token.time.monotonic", lambda: now)
    numbers = iter(range(10))
    seconds: float | None = None
    fetch: Callable[[], tuple[str, float | None]] = lambda: (f"token-number-{next(numbers)}", seconds)  # noqa: E731
    token = RenewedToken(fetch, 100)
    assert [token.current(), token.current()] == ["token-number-0"] * 2
    token.refuse()
    assert token.current() == "token-number-1"
    now, seconds = 99.0, 10.0
    assert token.current() == "token-number-1"
    now = 100.0
    assert token.current() == "token-number-2"
    now = 110.0
    assert token.current() == "token-number-3"
