"""How a server is reached, and what it is told of who comes: all that a connection says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.spark.connect.address import IN_CLEAR, address_of, with_parameters
from airflow_partitions.spark.connect.call_metadata import header_value
from airflow_partitions.spark.connect.named_function import named_function
from airflow_partitions.spark.connect.renewed_token import RenewedToken
from airflow_partitions.spark.connect.token_source import SECONDS, WAYS, token_of

if TYPE_CHECKING:
    from airflow.sdk import Connection

_SESSION = "session"
_PYTHON = "python"
_HEADERS = "headers"
_HEADER = "token_header"
_DEFAULT_HEADER = "authorization"
_KNOWN = ("use_ssl", IN_CLEAR, "conf", _HEADERS, *WAYS, _HEADER, SECONDS, _SESSION, _PYTHON)
_OF_THE_CALL = (_HEADERS, *WAYS, _HEADER, SECONDS, _PYTHON)
#: What gRPC takes as a name of text; names that end in -bin have bytes, and those of gRPC are its own.
_NAME = re.compile(r"(?!grpc-)[0-9a-z_.-]+(?<!-bin)")
_ITS_OWN = ("content-type", "te", "user-agent", "host")
#: In names of headers whose value is nobody else's business.
_SECRET = ("auth", "token", "secret")


@attrs.frozen(kw_only=True)
class Access:
    """How a server is reached.

    :ivar url: where it is; empty if a function makes the session.
    :ivar headers: that each call has.
    :ivar token: that is fetched; ``None`` if there is none, or the URL has it.
    :ivar header: which it goes into.
    :ivar session: makes a session; ``None`` if we do.
    :ivar python: runs the job, by a client of its own; ``None`` if that of this process does.
    """

    url: str = attrs.field(repr=False)
    headers: Mapping[str, str] = attrs.field(repr=False)
    token: RenewedToken | None
    header: str
    session: Callable[[], Any] | None
    python: str | None = None

    def whole_url(self) -> str:
        """The URL with all headers and a token that is good now, for a client that is told nothing else.

        :raises SparkServerError: if there is no token.
        """
        own = dict(self.headers)
        if self.token is not None:
            own[self.header] = header_value(self.header, self.token.current())
        return with_parameters(self.url, own)


def access_of(connection: Connection) -> Access:
    """What *connection* says. Nothing is asked for yet: no server, no token.

    :raises InvalidDefinitionError: if its extra has what is not understood, or a token would go in clear.
    """
    conn_id, extra = connection.conn_id, connection.extra_dejson
    if _SESSION in extra:
        return _made_elsewhere(connection)
    for key in extra:
        if key not in _KNOWN:
            near = get_close_matches(key, _KNOWN, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidDefinitionError(
                f"connection {conn_id!r} has {key!r} in its extra; expected any of {', '.join(_KNOWN)}{hint}"
            )
    token, header = token_of(connection), extra.get(_HEADER, _DEFAULT_HEADER)
    if token is None and (unused := [key for key in (_HEADER, SECONDS) if key in extra]):
        raise InvalidDefinitionError(
            f"connection {conn_id!r} has {' and '.join(unused)} in its extra, and no token that is fetched; expected"
            f" one of {', '.join(WAYS)} beside it"
        )
    headers = _headers(conn_id, extra.get(_HEADERS, {}))
    _check_name(conn_id, _HEADER, header)
    taken = header if token is not None else _DEFAULT_HEADER if connection.password else None
    if taken in headers:
        raise InvalidDefinitionError(
            f"connection {conn_id!r} has {taken!r} in its headers, and a token for it; expected one of both"
        )
    secret = token is not None or any(word in name for name in headers for word in _SECRET)
    return Access(
        url=address_of(connection, secret=secret),
        headers=headers,
        token=token,
        header=header,
        session=None,
        python=_python(conn_id, extra.get(_PYTHON)),
    )


def _python(conn_id: str, path: object) -> str | None:
    if path is None or (isinstance(path, str) and path.strip()):
        return path
    raise InvalidDefinitionError(
        f"connection {conn_id!r}: {_PYTHON} {path!r} in its extra is no path; expected that of a Python with a pyspark"
        " of the server's Spark, such as '/opt/spark35/bin/python'"
    )


def _made_elsewhere(connection: Connection) -> Access:
    """That of a function, whose connection may say in its extra what it likes."""
    extra = connection.extra_dejson
    if ours := [key for key in _OF_THE_CALL if key in extra]:
        raise InvalidDefinitionError(
            f"connection {connection.conn_id!r} has {', '.join(ours)} beside {_SESSION} in its extra; expected the"
            " function of the session to see to its calls, or no such function"
        )
    function = named_function(connection.conn_id, _SESSION, extra[_SESSION])

    def session() -> Any:
        from pyspark.sql.connect.session import SparkSession

        spark = function(connection)
        if not isinstance(spark, SparkSession):
            raise InvalidDefinitionError(
                f"connection {connection.conn_id!r}: {_SESSION} {extra[_SESSION]!r} returned a value of type"
                f" {type(spark).__module__}.{type(spark).__name__}; expected a SparkSession of Spark Connect"
            )
        return spark

    return Access(url="", headers={}, token=None, header=_DEFAULT_HEADER, session=session)


def _headers(conn_id: str, headers: object) -> Mapping[str, str]:
    if not isinstance(headers, dict):
        raise InvalidDefinitionError(
            f"connection {conn_id!r}: {_HEADERS} in its extra is of type {type(headers).__name__}; expected values by"
            ' name: {"x-databricks-cluster-id": "1108-201635-xxxxxxxx"}'
        )
    for name, value in headers.items():
        _check_name(conn_id, _HEADERS, name)
        if not (isinstance(value, str) and value.isascii() and value.isprintable()):
            raise InvalidDefinitionError(
                f"connection {conn_id!r}: the value of header {name!r} is no text that gRPC takes; expected printable"
                " ASCII"
            )
    return headers


def _check_name(conn_id: str, key: str, name: object) -> None:
    if isinstance(name, str) and _NAME.fullmatch(name) and name not in _ITS_OWN:
        return
    near = f", as in {name.lower()!r}" if isinstance(name, str) and _NAME.fullmatch(name.lower()) else ""
    raise InvalidDefinitionError(
        f"connection {conn_id!r}: {name!r} in {key} is no header that gRPC takes; expected small letters, digits, '-',"
        f" '_' and '.', not grpc-…, …-bin, {', '.join(_ITS_OWN)}{near}"
    )
