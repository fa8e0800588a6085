"""A REST catalog on this machine, which may lose answers. Behind it is a SQL catalog."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyiceberg.catalog.rest import CreateTableRequest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.table import CommitTableRequest, Table

_STATUS = {
    NoSuchTableError: 404,
    NoSuchNamespaceError: 404,
    CommitFailedException: 409,
    TableAlreadyExistsError: 409,
    NamespaceAlreadyExistsError: 409,
    ValueError: 400,
}
#: What pyiceberg leaves out, and nevertheless asks for.
_ABSENT = {"location": None, "partition-spec": None, "write-order": None}


class RestServer(ThreadingHTTPServer):
    """The server.

    :ivar losses: what becomes of the next commits: ``"lost"`` is made, and the line goes dead before the answer;
        ``"500"`` is made, too, and answered so; ``"503"`` is not made.
    :ivar commits: how many were tried.
    """

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        uri = f"sqlite:///{folder}/behind.db?timeout=60"
        self.catalog = SqlCatalog("behind", uri=uri, warehouse=str(folder / "warehouse"))
        self.losses: list[str] = []
        self.commits = 0
        self.one_at_a_time = threading.Lock()

    @property
    def properties(self) -> dict[str, str]:
        """How to reach it."""
        return {"type": "rest", "uri": f"http://127.0.0.1:{self.server_port}"}


class _Handler(BaseHTTPRequestHandler):
    server: RestServer

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def log_message(self, *arguments: Any) -> None:
        pass

    def _answer(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = [unquote(part) for part in self.path.partition("?")[0].split("/")[2:]]
        try:
            with self.server.one_at_a_time:
                form = self._respond(parts, data)
        except tuple(_STATUS) as error:
            status = next(code for kind, code in _STATUS.items() if isinstance(error, kind))
            self._send(status, {"error": {"message": str(error), "type": type(error).__name__, "code": status}})
            return
        if form is not None:
            self._send(200, form)

    def _respond(self, parts: list[str], data: bytes) -> dict[str, Any] | None:
        catalog, posts = self.server.catalog, self.command == "POST"
        match parts:
            case ["config"]:
                return {"defaults": {}, "overrides": {}}
            case ["namespaces"] if posts:
                catalog.create_namespace(tuple(json.loads(data)["namespace"]))
                return {"namespace": json.loads(data)["namespace"], "properties": {}}
            case ["namespaces"]:
                return {"namespaces": catalog.list_namespaces()}
            case ["namespaces", namespace]:
                return {"namespace": [namespace], "properties": catalog.load_namespace_properties(namespace)}
            case ["namespaces", namespace, "tables"] if posts:
                return self._create(namespace, CreateTableRequest.model_validate({**_ABSENT, **json.loads(data)}))
            case ["namespaces", namespace, "tables"]:
                names = [identifier[-1] for identifier in catalog.list_tables(namespace)]
                return {"identifiers": [{"namespace": [namespace], "name": name} for name in names]}
            case ["namespaces", namespace, "register"]:
                form = json.loads(data)
                return _form(catalog.register_table((namespace, form["name"]), form["metadata-location"]))
            case ["namespaces", namespace, "tables", name] if self.command == "DELETE":
                catalog.drop_table((namespace, name))
                return {}
            case ["namespaces", namespace, "tables", name] if posts:
                own = {"identifier": {"namespace": [namespace], "name": name}}  # which some clients leave out
                return self._commit((namespace, name), CommitTableRequest.model_validate(own | json.loads(data)))
            case ["namespaces", namespace, "tables", name]:
                return _form(catalog.load_table((namespace, name)))
        raise ValueError(self.path)

    def _create(self, namespace: str, request: CreateTableRequest) -> dict[str, Any]:
        make = self.server.catalog._create_staged_table if request.stage_create else self.server.catalog.create_table
        more: dict[str, Any] = {"partition_spec": request.partition_spec} if request.partition_spec else {}
        return _form(make((namespace, request.name), request.table_schema, properties=request.properties, **more))

    def _commit(self, identifier: tuple[str, str], request: CommitTableRequest) -> dict[str, Any] | None:
        self.server.commits += 1
        loss = self.server.losses.pop(0) if self.server.losses else ""
        if loss == "503":
            self._send(503, {"error": {"message": "come again", "type": "Busy", "code": 503}})
            return None
        catalog = self.server.catalog
        try:
            table = catalog.load_table(identifier)
        except NoSuchTableError:
            table = Table(identifier, None, None, None, catalog)  # type: ignore[arg-type]
        response = catalog.commit_table(table, request.requirements, request.updates)
        if loss == "lost":
            self.close_connection = True
            return None
        if loss == "500":
            self._send(500, {"error": {"message": "who knows", "type": "Confused", "code": 500}})
            return None
        return dict(json.loads(response.model_dump_json()))

    def _send(self, status: int, form: dict[str, Any]) -> None:
        data = json.dumps(form).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _form(table: Table) -> dict[str, Any]:
    metadata = json.loads(table.metadata.model_dump_json())
    return {"metadata-location": table.metadata_location, "metadata": metadata, "config": {}}


@contextmanager
def rest_server(folder: Path) -> Iterator[RestServer]:
    """A server, for as long as the block lasts."""
    with RestServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.catalog.close()
