"""Sources of answers: Airflow's database, or an API server.

A command asks for an operation and does not know which of the two answers.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from airflow.cli.cli_config import Arg

P = ParamSpec("P")
T = TypeVar("T")

#: The arguments of a command that may be answered by an API server.
SOURCE = (
    Arg(
        ("--url",),
        metavar="URL",
        help="Ask this Airflow's API server, not the database; with the token in the variable AIRFLOW_CLI_TOKEN",
    ),
    Arg(
        ("--connection",),
        metavar="ID",
        help="Ask the API server of this connection of Airflow: host, and a token as password, or login and password",
    ),
)


class Source(Protocol):
    """What answers."""

    def ask(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The answer of an *operation* with these arguments."""


class Database:
    """Airflow's database, as Airflow's own commands use it."""

    def ask(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The answer of an *operation* with these arguments."""
        return operation(*args, **kwargs)


def source_of(args: Namespace) -> Source:
    """The source that the arguments :data:`SOURCE` of a command name."""
    if args.url is None and args.connection is None:
        return Database()
    from airflow_partitions.operate.cli.api_server import ApiServer

    return ApiServer.by_url(args.url) if args.connection is None else ApiServer.by_connection(args.connection)
