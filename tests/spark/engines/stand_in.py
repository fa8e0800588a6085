"""What stands for a platform: a server on loopback that takes its REST calls, and runs the jobs here."""

from __future__ import annotations

import json
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import attrs
from upath import UPath

from airflow_partitions.spark.handover import Handover, received
from tests.spark.engines.machine import submit

#: What the job of a test does instead of Spark, if it does.
Work = Callable[[Handover], None]


@attrs.frozen
class Order:
    """What a platform is to run.

    :ivar conf: Spark properties.
    """

    program: str
    py_files: Sequence[str]
    arguments: Sequence[str]
    conf: Mapping[str, str]


@attrs.define
class Job:
    """One job of the platform.

    :ivar state: ``running``, ``succeeded``, ``failed`` or ``cancelled``.
    """

    number: int
    order: Order
    token: str
    state: str = "running"
    is_cancelled: threading.Event = attrs.field(factory=threading.Event)

    def handovers(self) -> Iterator[Handover]:
        """What it was given, each read as a driver does it."""
        context = SimpleNamespace(getConf=lambda: self.order.conf)
        for sent in received(SimpleNamespace(sparkContext=context)):  # type: ignore[arg-type]
            if (handover := sent()) is not None:
                yield handover

    def cancel(self) -> None:
        if self.state == "running":
            self.state = "cancelled"
            self.is_cancelled.set()


class StandIn(ABC):
    """A platform.

    :ivar calls: what it was asked, as method, path and body.
    :ivar jobs: those that were started, by their number.
    :ivar faults: what it answers next instead: a status of HTTP, or 0 for no answer at all.
    :ivar work: what jobs do instead of Spark.
    """

    #: The oddest value that it takes for a Spark property.
    odd = "${b} {c}"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: list[tuple[str, str, Any]] = []
        self.jobs: dict[int, Job] = {}
        self.faults: list[int] = []
        self.work: Work | None = None
        self.settings = {"spark.master": "local[2]", "spark.ui.enabled": "false"}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    @abstractmethod
    def answer(self, method: str, path: str, body: Any) -> Any:
        """What the platform answers: JSON; ``LookupError`` for what is not there."""

    def start(self, token: str, order: Order) -> Job:
        """The job with *token*: a new one, if there is none."""
        with self._lock:
            if (known := next((job for job in self.jobs.values() if job.token == token), None)) is not None:
                return known
            job = Job(len(self.jobs) + 1, order, token)
            self.jobs[job.number] = job
        thread = threading.Thread(target=self._run, args=[job], daemon=True)
        self._threads.append(thread)
        thread.start()
        return job

    def _run(self, job: Job) -> None:
        try:
            if self.work is None:
                self._submit(job)
            else:
                for handover in job.handovers():
                    self.work(handover)
        except Exception:  # noqa: BLE001 - a job that fails
            traceback.print_exc()
            state = "failed"
        else:
            state = "succeeded"
        if job.state == "running":
            job.state = state

    def _submit(self, job: Job) -> None:
        """Run it by Spark, on the disk of its own machine."""
        machine = self.folder / f"machine-{job.number}"
        machine.mkdir()
        properties = machine / "spark.properties"
        conf = {**self.settings, **job.order.conf}
        properties.write_text("".join(f"{name} {value}\n" for name, value in conf.items()))
        own = [self._fetched(machine, place) for place in (job.order.program, *job.order.py_files)]
        words = ["--properties-file", str(properties)]
        words += ["--py-files", ",".join(own[1:])] if own[1:] else []
        submit([*words, own[0], *job.order.arguments])

    def _fetched(self, machine: Path, place: str) -> str:
        file = machine / place.rpartition("/")[2]
        file.write_bytes(UPath(place).read_bytes())
        return str(file)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The platform, while the block lasts: its URL."""
        platform = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def _answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(size) or b"null") if size else None
                address = urlsplit(self.path)
                if body is None and address.query:
                    body = {name: values[0] for name, values in parse_qs(address.query).items()}
                path = self.headers.get("X-Amz-Target") or address.path  # by which some of AWS tell what is asked
                platform.calls.append((self.command, path, body))
                status, answer = 200, None
                if platform.faults:
                    status = platform.faults.pop(0)
                    if not status:
                        self.close_connection = True
                        self.connection.close()
                        return
                    answer = {"message": "by order of the test", "error_code": "FAULT"}
                else:
                    try:
                        answer = platform.answer(self.command, path, body)
                    except LookupError as error:
                        status, answer = 404, {"message": str(error), "error_code": "RESOURCE_DOES_NOT_EXIST"}
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                if status == HTTPStatus.NOT_FOUND:
                    self.send_header("x-amzn-ErrorType", "ResourceNotFoundException")  # as those of AWS say it
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - as the library calls them

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            self.end()

    def end(self) -> None:
        """End all jobs."""
        for job in self.jobs.values():
            job.cancel()
        for each in self._threads:
            each.join(20)
