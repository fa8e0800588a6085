"""A gRPC proxy on loopback before a Spark Connect server: it wants what a managed one does, headers and new tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import Any

import grpc

CLUSTER = ("x-databricks-cluster-id", "1108-201635")
_STREAMED = {"ExecutePlan", "ReattachExecute"}
_UPLOADED = {"AddArtifacts"}
_LARGEST: Any = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Proxy(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Passes bytes on.

    :param target: ``host:port`` of the server.
    :param header: that has the token.
    :param period: seconds after which another token is the only one.
    """

    def __init__(self, target: str, header: str, period: float) -> None:
        self._channel = grpc.insecure_channel(target, options=_LARGEST)
        self._header = header
        self._period = period
        self._began = time.monotonic()
        self._lock = Lock()
        self.port = 0
        self.calls: list[tuple[str, bool]] = []

    def token(self) -> str:
        """The one that is good now."""
        number = int((time.monotonic() - self._began) / self._period)
        return f"good-{number}"

    @property
    def refused(self) -> int:
        """How many calls were turned away."""
        return sum(not taken for _, taken in self.calls)

    def _takes(self, method: str, metadata: dict[str, Any]) -> bool:
        word = f"Bearer {self.token()}" if self._header == "authorization" else self.token()
        taken = metadata.get(self._header) == word and metadata.get(CLUSTER[0]) == CLUSTER[1]
        with self._lock:
            self.calls.append((method, taken))
        return taken

    def service(self, details: Any) -> Any:
        name = details.method.rpartition("/")[2]
        kind = "stream" if name in _UPLOADED else "unary", "stream" if name in _STREAMED else "unary"
        on = getattr(self._channel, "_".join(kind))(details.method)
        metadata = dict(details.invocation_metadata)

        def one(request: Any, context: Any) -> Any:
            self._check(name, metadata, context)
            try:
                return on(request)
            except grpc.RpcError as error:
                _pass_on(error, context)

        def many(request: Any, context: Any) -> Iterator[Any]:
            self._check(name, metadata, context)
            answers = on(request)
            context.add_callback(answers.cancel)
            try:
                yield from answers
            except grpc.RpcError as error:
                _pass_on(error, context)

        make: Callable[..., Any] = getattr(grpc, f"{'_'.join(kind)}_rpc_method_handler")
        return make(many if name in _STREAMED else one)

    def _check(self, name: str, metadata: dict[str, Any], context: Any) -> None:
        if not self._takes(name, metadata):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is old, or a header is missing")


def _pass_on(error: Any, context: Any) -> None:
    context.set_trailing_metadata(error.trailing_metadata() or ())
    context.abort(error.code(), error.details() or "")


@contextmanager
def proxied(target: str, *, header: str, period: float) -> Iterator[Proxy]:
    """A proxy before the server at *target*, for the block."""
    proxy = Proxy(target, header, period)
    server = grpc.server(ThreadPoolExecutor(16), handlers=[proxy], options=_LARGEST)
    proxy.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield proxy
    finally:
        server.stop(1).wait()
