"""An API server as the source of answers."""

from __future__ import annotations

import os
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import attrs
import httpx

from airflow_partitions.core.errors import InvalidDefinitionError, RemoteError
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.operate.urls import URL_PREFIX, VERSION_PREFIX

#: The variable in which Airflow's own client of REST, airflowctl, finds a token too.
TOKEN = "AIRFLOW_CLI_TOKEN"  # noqa: S105 - its name
_SECONDS = 300


@attrs.frozen
class ApiServer:
    """Airflow's API server at *url*, asked with a *token*."""

    url: str
    token: str = attrs.field(repr=False)

    @classmethod
    def by_url(cls, url: str) -> ApiServer:
        """The server at *url*, with the token of the environment.

        :raises InvalidDefinitionError: if there is no token, or *url* is none.
        """
        token = os.environ.get(TOKEN)
        if not token:
            raise InvalidDefinitionError(
                f"--url expected a token in the variable {TOKEN}; POST {url.rstrip('/')}/auth/token gives one"
            )
        return cls(_checked(url), token)

    @classmethod
    def by_connection(cls, name: str) -> ApiServer:
        """The server of Airflow's connection called *name*: its password is a token, or that of its login.

        :raises InvalidDefinitionError: if there is none, or it has no host or password.
        :raises RemoteError: if the server gives no token.
        """
        from airflow.models.connection import Connection
        from airflow.sdk.exceptions import AirflowNotFoundException

        try:
            connection = Connection.get_connection_from_secrets(name)
        except AirflowNotFoundException as error:
            raise InvalidDefinitionError(f"there is no connection {name!r}: {error}") from None
        host, password = connection.host, connection.password
        if not host or not password:
            raise InvalidDefinitionError(
                f"connection {name!r} expected a host, and a token or login and password:"
                " for example http://:TOKEN@airflow.example.com:8080"
            )
        scheme = connection.schema or ("https" if connection.conn_type == "https" else "http")
        url = host if "://" in host else f"{scheme}://{host}"
        url = _checked(url if connection.port is None else f"{url}:{connection.port}")
        if not connection.login:
            return cls(url, password)
        body = {"username": connection.login, "password": password}
        return cls(url, _content(_request("POST", f"{url}/auth/token", json=body))["access_token"])

    def ask(self, asked: Operation) -> Any:
        """What comes of an operation that is *asked* for, as JSON.

        :raises RemoteError: if there is no answer, or the server refuses.
        """
        method, path = asked.route.split()
        given = asked.model_dump(mode="json", exclude_unset=True)
        in_path = {name: quote(str(given.pop(name)), safe="") for name in asked.path_fields()}
        url = f"{self.url}{URL_PREFIX}{VERSION_PREFIX}{path.format(**in_path)}"
        headers = {"Authorization": f"Bearer {self.token}"}
        sent: dict[str, Any] = {"params": given} if method == "GET" else {"json": given}
        return _content(_request(method, url, headers=headers, **sent))


def _checked(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InvalidDefinitionError(
            f"{url!r} is no address of Airflow; expected for example https://airflow.example.com"
        )
    return url.rstrip("/")


def _request(method: str, url: str, **arguments: Any) -> httpx.Response:
    try:
        return httpx.request(method, url, timeout=_SECONDS, **arguments)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        raise RemoteError(f"Airflow at {url} does not answer: {error}") from error


def _content(answer: httpx.Response) -> Any:
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    if answer.is_success and kind == "application/json":
        return answer.json()
    url, status = answer.request.url.copy_with(query=None), answer.status_code
    if kind == "application/problem+json":
        detail = answer.json()["detail"]
    elif answer.is_success or status == HTTPStatus.NOT_FOUND:  # Airflow answers with its page to any path
        raise RemoteError(f"{url}: this is no Airflow with airflow-partitions", status=status)
    else:
        detail = answer.text[:1_000]
    if status == HTTPStatus.UNAUTHORIZED:
        detail += f"; expected a token that is valid now, in the variable {TOKEN} or in the connection"
    raise RemoteError(f"{url} refuses ({status}): {detail}", status=status)
