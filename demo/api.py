"""Airflow's public REST API, as much of it as the demo needs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import httpx

from demo.errors import DemoError

# SQLite has one writer at a time; on a busy machine Airflow may wait for it in vain, and has then changed nothing.
_TRIES, _PAUSE = 5, 3.0


class Api:
    """A signed-in session with one Airflow.

    :raises DemoError: of all it does, if Airflow does not answer, or answers with an error.
    """

    def __init__(self, address: str, user: str, password: str) -> None:
        # Proxies are for the world outside, this is loopback.
        self._client = httpx.Client(base_url=address, timeout=60, trust_env=False)
        answer = self._request("POST", "/auth/token", json={"username": user, "password": password})
        self._client.headers["Authorization"] = f"Bearer {self._content(answer)['access_token']}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> Any:
        """The answer's JSON; None if there is nothing at *path*."""
        answer = self._request("GET", f"/api/v2/{path}", params=query)
        return None if answer.status_code == httpx.codes.NOT_FOUND else self._content(answer)

    def pages(self, path: str, field: str, order_by: str = "id", **query: Any) -> Iterator[dict[str, Any]]:
        """All items, oldest first, so that a later one takes the place of an earlier one."""
        offset = 0
        while True:
            page = self.get(path, limit=100, offset=offset, order_by=order_by, **query)
            yield from page[field]
            offset += len(page[field])
            if not page[field] or offset >= page["total_entries"]:
                return

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        """Change what is at *path*."""
        return self._content(self.ask("PATCH", path, body))

    def post(self, path: str, body: dict[str, Any], *, known: tuple[int, ...] = ()) -> Any:
        """Make something; None if the answer's status is one of *known*."""
        answer = self.ask("POST", path, body)
        return None if answer.status_code in known else self._content(answer)

    def partitions(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """What the REST API of the partitions answers."""
        return self._content(self._request(method, f"/asset-partitions/api/v1/{path}", json=body))

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        """Airflow's answer, whatever it is."""
        for _ in range(_TRIES):
            answer = self._request(method, f"/api/v2/{path}", json=body)
            if answer.status_code != httpx.codes.INTERNAL_SERVER_ERROR or "Database error" not in answer.text:
                break
            time.sleep(_PAUSE)
        return answer

    def _request(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        try:
            return self._client.request(method, path, **arguments)
        except httpx.TransportError as error:
            address = self._client.base_url
            raise DemoError(f"Airflow at {address} does not answer: {error}; see logs/api-server.log") from error

    @staticmethod
    def _content(answer: httpx.Response) -> Any:
        if answer.is_success:
            return answer.json()
        request = answer.request
        raise DemoError(f"{request.method} {request.url}: Airflow answered {answer.status_code} {answer.text[:2000]}")
