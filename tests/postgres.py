"""A PostgreSQL of one's own: in a temporary folder, on a free port of this machine, ended by the one who started it."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

TOOL = Path(__file__).parents[1] / "tools" / "postgres.sh"
#: Nothing here has to survive a power cut.
OPTIONS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "max_connections": "200"}


@attrs.frozen
class Postgres:
    """A running server."""

    port: int
    password: str = attrs.field(repr=False)

    @property
    def dsn(self) -> str:
        """How psycopg2 connects."""
        return f"host=127.0.0.1 port={self.port} user=airflow password={self.password} dbname=postgres"

    @property
    def url(self) -> str:
        """How Airflow connects."""
        return f"postgresql+psycopg2://airflow:{self.password}@127.0.0.1:{self.port}/postgres"


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Start a server; its folder is gone when it is ended."""
    process = subprocess.run([TOOL], check=True, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    programs = Path(process.stdout.strip())
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        owner = _owner()
        if owner:
            shutil.chown(folder, owner)
        password = secrets.token_hex()
        secret = folder / "password"
        secret.touch(mode=0o600)
        secret.write_text(password)
        if owner:
            shutil.chown(secret, owner)
        cluster = folder / "cluster"

        def run(program: str, *words: str) -> None:
            subprocess.run(
                [programs / program, "--pgdata", cluster, *words],
                check=True,
                user=owner,
                group=owner,
                extra_groups=[] if owner else None,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

        run(
            "initdb",
            *("--username", "airflow", "--pwfile", str(secret), "--auth", "scram-sha-256"),
            *("--encoding", "UTF8", "--locale", "C", "--no-sync"),
        )
        port = _free_port()
        options = {"listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": "", **OPTIONS}
        with (cluster / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in options.items())
        run("pg_ctl", "--wait", "--log", str(folder / "log"), "start")
        try:
            yield Postgres(port, password)
        finally:
            run("pg_ctl", "--wait", "--mode", "immediate", "stop")  # by the process id in the cluster's folder


def _owner() -> str | None:
    """Who the server runs as: it refuses to be root, then Debian's own user for it."""
    if os.getuid() != 0:
        return None
    return pwd.getpwnam("postgres").pw_name


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
