"""Headers of all calls to a server, with a token that is new enough in each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import grpc

from airflow_partitions.spark.connect.renewed_token import RenewedToken

_KINDS: Any = (
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
)


class CallMetadata(*_KINDS):  # type: ignore[misc]
    """Adds them when a call begins: also to one that goes on with a query, or releases it.

    :param headers: that stay.
    :param token: that does not.
    :param header: which the token goes into.
    """

    def __init__(self, headers: Mapping[str, str], token: RenewedToken | None, header: str) -> None:
        self._headers = headers
        self._token = token
        self._header = header

    def _call(self, continuation: Any, details: Any, request: Any) -> Any:
        own = dict(self._headers)
        if self._token is not None:
            own[self._header] = header_value(self._header, self._token.current())
        return continuation(_Details.of(details, own), request)

    intercept_unary_unary = _call
    intercept_unary_stream = _call
    intercept_stream_unary = _call
    intercept_stream_stream = _call


def header_value(header: str, token: str) -> str:
    """What a *header* says of the *token*."""
    return f"Bearer {token}" if header == "authorization" else token


@attrs.frozen
class _Details(grpc.ClientCallDetails):  # type: ignore[misc]
    method: str
    timeout: float | None
    metadata: Any = attrs.field(repr=False)
    credentials: Any
    wait_for_ready: bool | None
    compression: Any

    @classmethod
    def of(cls, details: Any, headers: Mapping[str, str]) -> _Details:
        """The *details* of a call, with *headers* added."""
        return cls(
            details.method,
            details.timeout,
            [*(details.metadata or ()), *headers.items()],
            details.credentials,
            details.wait_for_ready,
            details.compression,
        )
