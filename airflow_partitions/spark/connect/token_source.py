"""Where the token of a server comes from, as the extra of its connection tells.

No error here has the token in it, nor what a command printed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import InvalidDefinitionError, PartitionError, SparkServerError
from airflow_partitions.spark.connect.named_function import named_function
from airflow_partitions.spark.connect.renewed_token import RenewedToken

if TYPE_CHECKING:
    from airflow.sdk import Connection

#: In the extra of a connection: ways to a token, of which one is to be chosen.
WAYS = ("token_function", "token_command", "token_conn_id")
SECONDS = "token_seconds"
_DEFAULT_SECONDS = 1_800
_LONGEST_COMMAND = 60  # seconds
#: Part of the time that a token is good for after which it is renewed, so that it does not end on its way.
_EARLY = 0.8


def token_of(connection: Connection) -> RenewedToken | None:
    """The token that the extra of *connection* tells how to fetch; nothing is fetched yet.

    :raises InvalidDefinitionError: if there are two ways to it, or the way is none.
    """
    conn_id, extra = connection.conn_id, connection.extra_dejson
    ways = [way for way in WAYS if way in extra]
    seconds = extra.get(SECONDS, _DEFAULT_SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        raise InvalidDefinitionError(
            f"connection {conn_id!r}: {SECONDS}={seconds!r} in its extra; expected seconds after which a token is"
            f" renewed, as in {_DEFAULT_SECONDS}"
        )
    sources = [*ways, *(["a password"] if connection.password else [])]
    if ways and len(sources) > 1:
        raise InvalidDefinitionError(
            f"connection {conn_id!r} has {' and '.join(sources)}; expected one way to its token: a password that stays,"
            f" or one of {', '.join(WAYS)} in its extra"
        )
    if not ways:
        return None
    (way,) = ways
    source = {"token_function": _function, "token_command": _command, "token_conn_id": _connection}[way]
    return RenewedToken(source(conn_id, extra), seconds)


def _function(conn_id: str, extra: Mapping[str, Any]) -> Callable[[], tuple[str, float | None]]:
    name = extra["token_function"]
    function = named_function(conn_id, "token_function", name)
    where = f"connection {conn_id!r}: token_function {name!r}"

    def fetch() -> tuple[str, float | None]:
        try:
            answer = function()
        except PartitionError:
            raise
        except Exception as error:  # noqa: BLE001 - of whatever it asks
            # Its own words stay out of ours: they may have the token.
            raise SparkServerError(
                f"{where} raised {type(error).__name__}; expected a token, or (token, seconds that it is good for):"
                " call it by hand where the task runs"
            ) from None
        match answer:
            case str():
                return _checked(answer, where), None
            case (str() as token, int() | float() as seconds) if seconds > 0:
                return _checked(token, where), seconds * _EARLY
        raise InvalidDefinitionError(
            f"{where} returned a value of type {type(answer).__name__}; expected a token, or a pair (token, seconds"
            " that it is good for)"
        )

    return fetch


def _command(conn_id: str, extra: Mapping[str, Any]) -> Callable[[], tuple[str, float | None]]:
    words = extra["token_command"]
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise InvalidDefinitionError(
            f"connection {conn_id!r}: token_command in its extra is of type {type(words).__name__}; expected a list of"
            ' words, as in ["our-login", "token", "--short"]'
        )
    where = f"connection {conn_id!r}: token_command {words[0]!r}"
    way_out = "expected one that prints a token: run it by hand as the user of the task"

    def fetch() -> tuple[str, float | None]:
        try:
            ended = subprocess.run(
                words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LONGEST_COMMAND, check=False
            )
        except subprocess.TimeoutExpired:
            raise SparkServerError(f"{where} did not end in {_LONGEST_COMMAND} seconds; {way_out}") from None
        except OSError as error:
            raise SparkServerError(f"{where} can't be run ({error.strerror}); {way_out}") from error
        if ended.returncode:
            raise SparkServerError(f"{where} ended with exit code {ended.returncode}; {way_out}")
        return _checked(ended.stdout, where), None

    return fetch


def _connection(conn_id: str, extra: Mapping[str, Any]) -> Callable[[], tuple[str, float | None]]:
    other = extra["token_conn_id"]
    where = f"connection {conn_id!r}: token_conn_id {other!r}"
    if not isinstance(other, str) or not other:
        raise InvalidDefinitionError(f"{where} in its extra; expected the id of a connection whose password is a token")

    def fetch() -> tuple[str, float | None]:
        from airflow.sdk import BaseHook
        from airflow.sdk.exceptions import AirflowNotFoundException

        try:
            password = BaseHook.get_connection(other).password
        except AirflowNotFoundException as error:
            raise InvalidDefinitionError(
                f"{where} is no connection of Airflow; expected the id of one whose password is a token"
            ) from error
        return _checked(password or "", where), None

    return fetch


def _checked(token: str, where: str) -> str:
    """*token* without the end of its line, if a header can have it."""
    bare = token.strip()
    if not bare:
        raise SparkServerError(f"{where} gave an empty token; expected one that the server takes")
    if not (bare.isascii() and bare.isprintable()):
        raise SparkServerError(
            f"{where} gave {len(bare)} characters that are no token; expected one line of printable ASCII"
        )
    return bare
