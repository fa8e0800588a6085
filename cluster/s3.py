"""An S3 store for one machine: moto's server, with all that is written kept in a journal.

moto stands in for a store, it is none: it keeps everything in memory, and checks no signatures. Here it asks for the
key that the cluster has made up, and what was written is there again after a restart.
"""

from __future__ import annotations

import base64
import json
import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
READING = ("GET", "HEAD")


class Journal:
    """A WSGI application that does one write at a time, as conditional ones need it, and remembers it.

    :param file: a line of JSON for each write that was done.
    """

    def __init__(self, app: _App, file: Path) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._file = file
        self._replay()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer one request."""
        if environ["REQUEST_METHOD"] in READING:
            return self._app(environ, start)
        body = _body(environ)
        entry = {name: value for name, value in environ.items() if isinstance(value, str)}
        with self._lock:
            status, headers, content = self._done(environ, body)
            if status.startswith("2"):
                with self._file.open("a") as out:
                    out.write(json.dumps({"environ": entry, "body": base64.b64encode(body).decode()}) + "\n")
        start(status, headers)
        return content

    def _done(self, environ: dict[str, Any], body: bytes) -> tuple[str, list[tuple[str, str]], list[bytes]]:
        from io import BytesIO

        answers: list[tuple[str, list[tuple[str, str]]]] = []
        environ = {**environ, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        content = list(self._app(environ, lambda status, headers, *_: answers.append((status, headers))))
        return *answers[-1], content

    def _replay(self) -> None:
        """Do again what was done before; a last line that was cut off was not answered either."""
        if not self._file.exists():
            return
        complete = 0
        with self._file.open("rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                entry = json.loads(line)
                self._done({**_EMPTY, **entry["environ"]}, base64.b64decode(entry["body"]))
                complete += len(line)
        with self._file.open("r+b") as file:
            file.truncate(complete)


_EMPTY = {"wsgi.version": (1, 0), "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False}


def _body(environ: dict[str, Any]) -> bytes:
    stream = environ["wsgi.input"]
    if environ.get("CONTENT_LENGTH"):
        return bytes(stream.read(int(environ["CONTENT_LENGTH"])))
    return bytes(stream.read()) if environ.get("wsgi.input_terminated") else b""


class OneKey:
    """A WSGI application that refuses all but one access key."""

    def __init__(self, app: _App, access_key: str) -> None:
        self._app = app
        self._credential = f"Credential={access_key}/"

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer one request."""
        if self._credential in environ.get("HTTP_AUTHORIZATION", ""):
            return self._app(environ, start)
        _body(environ)
        start("403 Forbidden", [("Content-Type", "application/xml")])
        return [b"<Error><Code>AccessDenied</Code><Message>not the key of this store</Message></Error>"]


def application(journal: Path, access_key: str) -> OneKey:
    """The store as a WSGI application."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

    return OneKey(Journal(DomainDispatcherApplication(create_backend_app), journal), access_key)


def serve(port: int, journal: Path, access_key: str) -> None:
    """Answer at *port* of this machine until the process ends."""
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    make_server("127.0.0.1", port, application(journal, access_key), threaded=True).serve_forever()
