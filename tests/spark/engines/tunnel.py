"""A proxy on loopback that leads to one port of this machine, whatever host it is asked for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer

_END = b"\r\n\r\n"


class Tunnel(ThreadingTCPServer):
    """It takes ``CONNECT``, as clients send it that have a proxy in their environment.

    :ivar hosts: that it was asked for.
    """

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.port = port
        self.hosts: set[str] = set()
        self.sockets: set[socket.socket] = set()

    def drop(self) -> None:
        """End all connections, as a network does that breaks."""
        for each in list(self.sockets):
            with suppress(OSError):  # it has ended meanwhile
                each.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The proxy, while the block lasts: its URL."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{self.server_address[1]}"
        finally:
            self.drop()
            self.shutdown()
            self.server_close()


class _Connection(BaseRequestHandler):
    server: Tunnel
    request: socket.socket

    def handle(self) -> None:
        asked = b""
        while _END not in asked:
            asked += self.request.recv(4096) or _END
        verb, _, rest = asked.decode().partition(" ")
        if verb != "CONNECT":
            return
        self.server.hosts.add(rest.partition(" ")[0])
        with socket.create_connection(("127.0.0.1", self.server.port)) as target:
            pair = {self.request, target}
            self.server.sockets |= pair
            self.request.sendall(b"HTTP/1.1 200 Connection established" + _END)
            back = threading.Thread(target=_pour, args=[target, self.request], daemon=True)
            back.start()
            _pour(self.request, target)
            back.join()
            self.server.sockets -= pair


def _pour(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):  # the other side has ended it
        while content := source.recv(65536):
            sink.sendall(content)
        sink.shutdown(socket.SHUT_WR)
