"""A server to look at, in a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import attrs
import httpx

from tests.loopback import client_of
from tests.view.bundle import ROOT

REST = "/asset-partitions/api/v1"


@attrs.define
class RunningServer:
    """Airflow's API server with the estate.

    :ivar home: its files, and those of its database.
    :ivar address: with the path below which it is, if any.
    """

    home: Path
    port: int
    base_path: str = ""
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.base_path}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = ["--port", str(self.port), "--home", str(self.home), "--base-path", self.base_path]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
        with (self.home / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.view.server", *words],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + 600
        while not self.answers():
            assert self.process.poll() is None, (self.home / "server.log").read_text()
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.2)

    def answers(self) -> bool:
        """Whether it is there."""
        with client_of(self.address) as client:
            try:
                return client.get("/api/v2/version", timeout=5).is_success
            except httpx.TransportError:
                return False

    def stop(self) -> None:
        """End it."""
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def token(self, user: str) -> str:
        """A token of that *user*, as signing in gives it."""
        with client_of(self.address) as client:
            answer = client.post("/auth/token", json={"username": user, "password": user})
            return str(answer.raise_for_status().json()["access_token"])

    def client(self, user: str = "admin") -> httpx.Client:
        """A client of REST, signed in."""
        return client_of(f"{self.address}{REST}", self.token(user))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
