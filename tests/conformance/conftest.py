"""The same tests on a local disk and on an S3 store, which is moto's server on loopback."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import attrs
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUCKET = "lake"

_App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class OneByOne:
    """Lets conditional writes through one at a time: moto looks for the object and stores it in two steps.

    :ivar count: how many there were.
    :ivar unanswered: numbers of those that are carried out, and whose answer gets lost.
    """

    def __init__(self, app: _App) -> None:
        self._app = app
        self._lock = threading.Lock()
        self.count = 0
        self.unanswered: set[int] = set()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if "HTTP_IF_NONE_MATCH" not in environ or environ["REQUEST_METHOD"] != "PUT":
            return self._app(environ, start)
        with self._lock:
            self.count += 1
            if self.count not in self.unanswered:
                return self._app(environ, start)
            for _ in self._app(environ, lambda *_: None):
                pass
        start("500 Internal Server Error", [("Content-Length", "0")])
        return []


@attrs.frozen
class Server:
    """An S3 store.

    :ivar url: its endpoint.
    :ivar writes: its conditional writes.
    """

    url: str
    writes: OneByOne


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    from cheroot.wsgi import Server as HttpServer  # keeps connections, unlike moto's own
    from moto.server import DomainDispatcherApplication, create_backend_app

    class Dispatcher(DomainDispatcherApplication):
        """Knows requests for S3 by their signature; otherwise folders of all of moto's services are listed for each."""

        def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
            # As moto's own server says it; cheroot leaves slashes that are quoted as they are.
            environ["RAW_URI"] = environ["REQUEST_URI"]
            environ["PATH_INFO"] = unquote(environ["REQUEST_URI"].partition("?")[0], "latin-1")
            return super().__call__(environ, start)

        def get_application(self, environ: dict[str, Any]) -> Any:
            if "/s3/aws4_request" in environ.get("HTTP_AUTHORIZATION", ""):
                if "s3" not in self.app_instances:
                    self.app_instances["s3"] = self.create_app("s3")
                return self.app_instances["s3"]
            return super().get_application(environ)

    writes = OneByOne(Dispatcher(create_backend_app))
    http_server = HttpServer(("127.0.0.1", 0), writes)
    http_server.prepare()
    thread = threading.Thread(target=http_server.serve, daemon=True)
    thread.start()
    variables = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{http_server.bind_addr[1]}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()  # one may be of a store of other tests, which is gone
    try:
        s3fs.S3FileSystem().mkdir(BUCKET)
        yield Server(variables["AWS_ENDPOINT_URL"], writes)
    finally:  # its threads would keep the process
        http_server.stop()
        thread.join()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@pytest.fixture(params=["local", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place for a dataset."""
    if request.param == "local":
        return str(tmp_path / "lake")
    request.getfixturevalue("server")
    return f"s3://{BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def spark(spark: SparkSession, server: Server) -> SparkSession:
    """The session, reading and writing ``s3a:`` at the server."""
    options = {
        "endpoint": server.url,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": "test",
        "secret.key": "test",
    }
    for name, value in options.items():
        spark.conf.set(f"fs.s3a.{name}", value)
    return spark
