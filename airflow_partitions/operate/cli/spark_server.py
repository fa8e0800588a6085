"""``airflow asset-partitions spark-server``."""

from __future__ import annotations

import json
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.spark.server.connect_server import ConnectServer
from airflow_partitions.spark.server.distribution import Distribution
from airflow_partitions.spark.server.listener import JAR, settings
from airflow_partitions.spark.server.supervision import supervise
from airflow_partitions.spark.server.token import token_of


def spark_server(args: Namespace) -> None:
    """Show what a server of Spark Connect needs, or start one."""
    try:
        if args.start:
            _start(args)
        else:
            _show(args)
    except PartitionError as error:
        sys.exit(str(error))


def _show(args: Namespace) -> None:
    version = args.spark or Distribution.here().version
    shown = settings(version)
    if args.output == "json":
        _print_json({"spark": version, "jar": str(JAR), "settings": dict(shown)})
        return
    print(f"# Spark {version}; copy the jar to the server's machine: {JAR}")  # noqa: T201 - may be copied to a shell
    for name, value in shown.items():
        print(f"--conf {name}={value}")  # noqa: T201


def _start(args: Namespace) -> None:
    if args.spark is not None:
        sys.exit("--spark is for the settings of another server; --start starts the Spark of this environment")
    server = ConnectServer(port=args.port, token=token_of(_token_file()), memory=args.memory, conf=dict(_conf(args)))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def ready(server: ConnectServer) -> None:
        connection = {"conn_type": "spark_connect", "host": "sc://localhost", "port": server.port}
        if args.output == "json":
            about = {"host": "localhost", "port": server.port, "pid": server.pid, "spark": server.spark.version}
            _print_json({**about, "connection": connection, "token_file": str(_token_file())})
            return
        start = json.dumps({**connection, "password": ""})[:-2]
        say(f"Spark Connect {server.spark.version} listens on localhost:{server.port}, process {server.pid}")
        say("Airflow's connection to it, where the token stays in its file:")
        print(f"export AIRFLOW_CONN_SPARK_WARM='{start}'\"$(cat '{_token_file()}')\"'\"}}'", flush=True)  # noqa: T201

    def say(words: str) -> None:
        Console(stderr=True).print(words, markup=False, highlight=False, soft_wrap=True)

    try:
        supervise(server, ready, say)
    except KeyboardInterrupt:
        sys.exit(0)


def _conf(args: Namespace) -> Iterator[tuple[str, str]]:
    for pair in args.conf:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            sys.exit(f"--conf {pair!r}: expected NAME=VALUE, as spark.sql.shuffle.partitions=8")
        yield name, value
    if args.packages:
        yield "spark.jars.packages", args.packages
    if args.jars:
        yield "spark.jars", args.jars


def _token_file() -> Path:
    from airflow.configuration import AIRFLOW_HOME

    return Path(AIRFLOW_HOME) / "spark-server-token"


def _print_json(form: dict[str, Any]) -> None:
    print(json.dumps(form), flush=True)  # noqa: T201 - for scripts
