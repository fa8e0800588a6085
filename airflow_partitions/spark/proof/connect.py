"""Counts of what a session of Spark Connect read, from the listener on its server.

The listener is ours and runs where the plans are; see ``airflow_partitions/spark/server``. It is asked by table
functions, over the session's own connection.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import MissingListenerError, ResultError
from airflow_partitions.spark.proof.promise import VERSION, Promise
from airflow_partitions.spark.proof.requests import requests_of
from airflow_partitions.spark.proof.scan import ObservedScan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What an event says where nobody counted.
NO_LISTENER = "reads: the Spark Connect server has no listener of airflow_partitions"
_UNKNOWN_FUNCTION = "UNRESOLVABLE_TABLE_VALUED_FUNCTION"


@attrs.frozen
class _ClientProof:
    """What the client of a session knows by itself."""

    _spark: SparkSession

    def unwatched(self) -> tuple[str, ...]:
        """Code that was sent along."""
        return requests_of(self._spark).unwatched


@attrs.frozen
class ConnectProof(_ClientProof):
    """Counts of one session, kept by its server."""

    counts = True
    renewable = False

    def scans(self) -> list[ObservedScan]:
        """All scans that ran so far.

        :raises ResultError: if a plan could not be looked at: then nothing is proved.
        """
        return [_scan(form) for form in self._account()["scans"]]

    def unseen(self) -> tuple[str, ...]:
        """What was read and not counted, in words."""
        return tuple(self._account()["unseen"])

    def _account(self) -> dict[str, Any]:
        account = _call(self._spark, "airflow_partitions_reads()")
        if account.get("failure"):
            raise ResultError(f"the plan of a query could not be looked at: {account['failure']}")
        return account


@attrs.frozen
class NoProof(_ClientProof):
    """Nothing is counted: the server has no listener."""

    counts = False
    renewable = True

    def scans(self) -> list[ObservedScan]:
        """None that anybody knows of."""
        return []

    def unseen(self) -> tuple[str, ...]:
        """That nobody counted."""
        return (NO_LISTENER,)


@contextmanager
def counted(spark: SparkSession, promise: Callable[[], Promise]) -> Iterator[ConnectProof | NoProof]:
    """Count what *spark* reads inside the block, after the server was told the *promise*.

    :raises MissingListenerError: if the job is strict, and the server has no listener, or another release of it.
    """
    from pyspark.errors import AnalysisException

    own = promise()
    try:
        answer = _call(spark, "airflow_partitions_promise(:promise)", promise=json.dumps(own.to_json()))
    except AnalysisException as error:
        if _UNKNOWN_FUNCTION not in str(error):
            raise
        if own.strict:
            raise MissingListenerError(
                f"the Spark Connect server (Spark {spark.version}) has no listener of airflow_partitions, so nobody can"
                " tell what a strict job reads; expected the server to be started with the settings that"
                " `airflow asset-partitions spark-server` prints, or strict=False"
            ) from error
        yield NoProof(spark)
        return
    if answer["version"] != VERSION:
        raise MissingListenerError(
            f"the listener of the Spark Connect server speaks version {answer['version']}; expected {VERSION}: the same"
            " release of airflow_partitions there and here"
        )
    yield ConnectProof(spark)


def _call(spark: SparkSession, function: str, **arguments: str) -> dict[str, Any]:
    """The answer of a table *function* of the listener."""
    row = spark.sql(f"select value from {function}", args=arguments or None).collect()[0]  # noqa: S608 - names of ours
    answer: dict[str, Any] = json.loads(row["value"])
    return answer


def _scan(form: Mapping[str, Any]) -> ObservedScan:
    rows = form["rows"]
    if form["kind"] == "files":
        locations = frozenset(form["locations"])
        return ObservedScan(
            locations, len(locations), form["files"], form["bytes"], rows, roots=frozenset(form["roots"])
        )
    if form["kind"] == "table":
        files = form["files"]
        locations = frozenset(files)
        return ObservedScan(locations, len(files), len(files), sum(files.values()), rows, locations)
    return ObservedScan(frozenset([form["description"]]), 0, 0, 0, rows)
