"""Where a Spark Connect server is, and what it is told of who comes."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit

from airflow_partitions.core.errors import InvalidDefinitionError

if TYPE_CHECKING:
    from airflow.sdk import Connection

#: In the extra of a connection: a token may go to another host in clear.
IN_CLEAR = "allow_token_in_clear"


def address_of(connection: Connection, *, secret: bool = False) -> str:
    """The URL of the server of a *connection*, as Airflow's hook makes it.

    The client sends a token without TLS to a host called ``localhost`` only. To another name of this machine, or where
    the connection allows it, the token goes as a header.

    :param secret: whether its headers have a token, though the URL has none.
    :raises InvalidDefinitionError: if a token would go to another host in clear, or the hook can make no URL.
    """
    from airflow.providers.apache.spark.hooks.spark_connect import SparkConnectHook

    if not connection.host:
        raise InvalidDefinitionError(
            f"connection {connection.conn_id!r} has no host; expected that of a Spark Connect server, as in"
            ' {"conn_type": "spark_connect", "host": "sc://localhost", "port": 15002}'
        )
    url = SparkConnectHook(connection.conn_id).get_connection_url()
    base, _, rest = url.partition("/;")
    parameters = dict(parse_qsl(rest, separator=";", keep_blank_values=True))
    host = urlsplit(base).hostname or ""
    secret = secret or "token" in parameters
    if not secret or parameters.get("use_ssl", "").lower() == "true" or host == "localhost":
        return with_parameters(base, parameters)
    if not _is_this_machine(host) and not connection.extra_dejson.get(IN_CLEAR):
        raise InvalidDefinitionError(
            f"connection {connection.conn_id!r}: its token would go to {host} in clear; expected"
            f' "use_ssl": true in its extra and TLS in front of the server, or, in a network that you trust,'
            f' "{IN_CLEAR}": true'
        )
    parameters.pop("use_ssl", None)
    if "token" in parameters:
        parameters["authorization"] = f"Bearer {parameters.pop('token')}"
    return with_parameters(base, parameters)


def with_parameters(url: str, parameters: Mapping[str, str]) -> str:
    """*url* with more *parameters*, which its client takes for headers if it does not know them."""
    pairs = (f";{name}={quote(value, safe='')}" for name, value in parameters.items())
    return f"{url if '/;' in url else url.rstrip('/') + '/'}{''.join(pairs)}" if parameters else url


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
