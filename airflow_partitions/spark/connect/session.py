"""A session of its own for one job."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import InvalidDefinitionError, MissingListenerError, SparkServerError
from airflow_partitions.spark.connect.progress import QueryProgress
from airflow_partitions.spark.proof.requests import Requests, remember
from airflow_partitions.storage.io.spark_client import condition_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_partitions.spark.connect.access import Access

_log = logging.getLogger(__name__)
#: Tells pyspark's functions that they are called for a session without a driver.
_MODE = "SPARK_CONNECT_MODE_ENABLED"
#: A server that is away is asked for some 40 seconds; then Airflow tries the task again.
RETRIES = 9
_LONGEST_WAIT = 8_000  # milliseconds
_PATIENCE = 10  # seconds
#: What an event says of a client that is not ours.
_FOREIGN = "all that the session sends, which a function of the connection has made"
_DEFAULTS = {
    # As for a job with a driver: it does not depend on the machine it lands on.
    "spark.sql.session.timeZone": "UTC",
    # The folders of partitions are listed by the server itself: they are named, and few files are in each.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": str(2**31 - 1),
}
#: Sessions that were closed: one that is collected while another runs stops the threads that all share.
_CLOSED: list[Any] = []


@contextmanager
def connected(access: Access, name: str, *, conf: Mapping[str, str], strict: bool) -> Iterator[SparkSession]:
    """A session of the server that *access* tells of, for the block.

    :param name: marks what the session runs, in the server's pages.
    :param conf: Spark properties.
    :param strict: whether the job may make no copies of it.
    :raises SparkServerError: if the server is of an older Spark than the client.
    :raises InvalidDefinitionError: if a property belongs to the server.
    :raises MissingListenerError: if it is strict, and nobody looks at what the session sends.
    """
    if strict and access.session is not None:
        raise MissingListenerError(
            "a strict job can't use the session that a function of its connection makes, since nobody looks at what it"
            " sends; expected strict=False, or a connection to a server with the listener of airflow_partitions"
        )
    mode = os.environ.get(_MODE)
    os.environ[_MODE] = "1"
    requests = Requests(strict=strict, unwatched=() if access.session is None else (_FOREIGN,))
    try:
        spark = _session(access, requests)
        try:
            remember(spark, requests)
            spark.addTag(name)
            # First of all, so that what follows fails, and is not run again unseen, on a server that was restarted.
            configure(spark, conf)
            if access.session is None:
                check_version(spark)  # another client than pyspark counts in its own way
            spark.registerProgressHandler(QueryProgress())
            yield spark
        finally:
            _CLOSED.append(spark)
            _end(spark, access)
    finally:
        if mode is None:
            del os.environ[_MODE]
        else:
            os.environ[_MODE] = mode


def interrupt(spark: Any) -> None:
    """End what the session runs. Who waits for it is told, and then releases the session.

    It is asked on a thread of its own, since the signal that ends a task may come while the client holds a lock.
    """
    asking = Thread(target=_interrupt, args=[spark], daemon=True)
    asking.start()
    asking.join(_PATIENCE)


def _interrupt(spark: Any) -> None:
    try:
        spark.interruptAll()
    except Exception as error:  # noqa: BLE001 - the task ends anyway, and the server ends what nobody asks for
        _log.warning("The session could not be told to end what it runs: %s", error)


def _end(spark: Any, access: Access) -> None:
    """Release the session. A server that does not answer is not waited for again: it forgets the session by itself."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    spark.client.set_retry_policies([DefaultPolicy(max_retries=1), *_renewal(access)])
    spark.stop()


def _renewal(access: Access) -> list[Any]:
    """What else the client tries again: a call whose token was refused."""
    from airflow_partitions.spark.connect.refused_token import RefusedToken

    return [] if access.token is None else [RefusedToken(access.token)]


def _session(access: Access, requests: Requests) -> Any:
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.session import SparkSession

    from airflow_partitions.spark.connect.call_metadata import CallMetadata

    if access.session is not None:
        spark = access.session()
        if spark in _CLOSED:
            raise InvalidDefinitionError(
                "the function of the connection's session returned one that was closed; expected another for each call"
            )
        return spark
    if access.token is not None:
        access.token.current()  # who gets none does not ask the server
    channel = DefaultChannelBuilder(access.url)
    channel.add_interceptor(requests)
    if access.headers or access.token is not None:
        channel.add_interceptor(CallMetadata(access.headers, access.token, access.header))
    spark = SparkSession.builder.channelBuilder(channel).create()
    try_again(spark, *_renewal(access))
    return spark


def try_again(spark: Any, *others: Any) -> None:
    """Have the client of the session try calls again for some 40 seconds, and as the *others* say."""
    if not hasattr(spark.client, "set_retry_policies"):  # Spark 3.5
        spark.client._retry_policy |= {"max_retries": RETRIES, "max_backoff": _LONGEST_WAIT}  # noqa: SLF001
        return
    from pyspark.sql.connect.client.retries import DefaultPolicy

    spark.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES, max_backoff=_LONGEST_WAIT), *others])


def configure(spark: Any, conf: Mapping[str, str]) -> None:
    """Tell the session of *conf*, over what a job's result may not depend on.

    :raises InvalidDefinitionError: if a property belongs to the server.
    """
    from pyspark.errors import AnalysisException

    for name, value in (_DEFAULTS | dict(conf)).items():
        try:
            spark.conf.set(name, value)
        except AnalysisException as error:
            raise InvalidDefinitionError(
                f"conf {name}={value} can't be set for a job on a Spark Connect server ({condition_of(error)});"
                " expected it in the settings of the server, or a connection of type spark: a driver for each job"
            ) from error


def check_version(spark: Any) -> None:
    """Refuse a server that is older than its client: it passes over what it does not know of a plan, and says nothing.

    :raises SparkServerError: if it is.
    """
    import pyspark

    server, client = (tuple(map(int, version.split(".")[:2])) for version in (spark.version, pyspark.__version__))
    if server < client:
        raise SparkServerError(
            f"the Spark Connect server runs Spark {spark.version}, and its client here is {pyspark.__version__};"
            ' expected a server of the same Spark or a newer one, or "python" in the connection\'s extra: the path of a'
            f" Python with pyspark {server[0]}.{server[1]}"
        )
