"""A token that is fetched when a call needs it, and again when it is old or was refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock


class RenewedToken:
    """The token of one task.

    :param fetch: asks for a new one; answers with the token and the seconds after which it is old, ``None`` if that is
        not known.
    :param seconds: after which it is old, where *fetch* does not know.
    """

    def __init__(self, fetch: Callable[[], tuple[str, float | None]], seconds: float) -> None:
        self._fetch = fetch
        self._seconds = seconds
        self._value = ""
        self._old = 0.0
        self._lock = Lock()  # the client releases queries on threads of its own

    def current(self) -> str:
        """A token that is not old.

        :raises SparkServerError: if none is given out.
        :raises InvalidDefinitionError: if what is given out is no token.
        """
        from airflow.sdk.log import mask_secret

        with self._lock:
            if not self._value or time.monotonic() >= self._old:
                value, seconds = self._fetch()
                mask_secret(value)
                self._value, self._old = value, time.monotonic() + (self._seconds if seconds is None else seconds)
            return self._value

    def refuse(self) -> None:
        """The server does not take it any more: the next call fetches another."""
        with self._lock:
            self._value = ""
