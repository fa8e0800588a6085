"""A PostgreSQL of one's own, on a port of this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from demo.home import CHECKOUT

TOOL = CHECKOUT / "tools" / "postgres.sh"


def programs() -> Path:
    """The folder of its programs; it is installed where there is none and we may."""
    process = subprocess.run([TOOL], check=True, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    return Path(process.stdout.strip())


def owner() -> str | None:
    """Who the server runs as: it refuses to be root, then Debian's own user for it."""
    return None if os.getuid() else pwd.getpwnam("postgres").pw_name


def run(*words: str | Path, cwd: Path) -> None:
    """Run a program of it as its :func:`owner`."""
    user = owner()
    subprocess.run(
        words,
        check=True,
        user=user,
        group=user,
        extra_groups=[] if user else None,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def initialise(files: Path, password: str, port: int, options: Mapping[str, str]) -> None:
    """Make the files of a server with one user, ``airflow``.

    :param files: a folder that does not exist, in one that the :func:`owner` can enter.
    :param options: of ``postgresql.conf``.
    """
    user = owner()
    secret = files.with_name(f"{files.name}.password")
    secret.touch(mode=0o600)
    secret.write_text(password)
    files.mkdir(mode=0o700)
    if user:
        shutil.chown(secret, user)
        shutil.chown(files, user)
    try:
        run(
            programs() / "initdb",
            *("--pgdata", str(files), "--username", "airflow", "--pwfile", str(secret)),
            *("--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync"),
            cwd=files,
        )
    finally:
        secret.unlink()
    fixed = {"port": str(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
    with (files / "postgresql.conf").open("a") as file:
        file.writelines(f"{name} = '{value}'\n" for name, value in {**fixed, **options}.items())
