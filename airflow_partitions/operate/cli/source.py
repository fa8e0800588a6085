"""Sources of answers: Airflow's database, or an API server.

A command asks for an operation and does not know which of the two answers.
"""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any, Protocol

from airflow.cli.cli_config import Arg

if TYPE_CHECKING:
    from airflow_partitions.operate.asker import Asker
    from airflow_partitions.operate.contract.operation import Operation

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

    def ask(self, asked: Operation) -> Any:
        """What comes of an operation that is *asked* for, as JSON."""


class Database:
    """Airflow's database, as Airflow's own commands use it.

    :param asker: who asks.
    """

    def __init__(self, asker: Asker | None = None) -> None:
        self._asker = asker

    def ask(self, asked: Operation) -> Any:
        """What comes of an operation that is *asked* for, as JSON."""
        from airflow_partitions.operate.operations import answer

        return answer(asked, self._asker)


def source_of(args: Namespace, asker: Asker | None = None) -> Source:
    """The source that the arguments :data:`SOURCE` of a command name.

    :param asker: who asks the database; an API server knows it by itself.
    """
    if args.url is None and args.connection is None:
        return Database(asker)
    from airflow_partitions.operate.cli.api_server import ApiServer

    return ApiServer.by_url(args.url) if args.connection is None else ApiServer.by_connection(args.connection)
