"""What a Spark Connect server or its client says, in our words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from airflow_partitions.core.errors import ResultError, SparkServerError, UnpromisedReadError, causes
from airflow_partitions.storage.io.spark_client import condition_of

_FORGOTTEN = re.compile(r"NO_ACTIVE_SESSION|SESSION_(NOT_FOUND|CHANGED|CLOSED)|OPERATION_(NOT_FOUND|ABANDONED)")
_ENDING = re.compile(r"OutOfMemoryError|stopped SparkContext|SparkContext was shut down")
_UNPROMISED = re.compile(r"UNPROMISED_READ:?\s*(?P<reason>[^\n]*)")
#: Of the client's own errors, and of gRPC's.
_CODES = ("getGrpcStatusCode", "code")
#: In the text of an error of gRPC.
_DETAILS = re.compile(r'details = "(?P<text>.*)"')
_STATUS = re.compile(r"status = StatusCode\.(?P<name>[A-Z_]+)")
#: Errors of the client about what only a session with a driver has.
_NO_DRIVER = ("JVM_ATTRIBUTE_NOT_SUPPORTED", "NOT_IMPLEMENTED", "UNSUPPORTED_OPERATION", "ATTRIBUTE_NOT_SUPPORTED")


@contextmanager
def translated(server: str, connection: str) -> Iterator[None]:
    """Tell what went wrong with the *server*, ``host:port``, of a *connection*.

    :raises SparkServerError: if it does not answer, refuses, or was restarted meanwhile.
    :raises UnpromisedReadError: if it refused to read what was not promised.
    :raises ResultError: if the job asked for what only a driver has.
    """
    import grpc
    from pyspark.errors import PySparkAttributeError, PySparkNotImplementedError
    from pyspark.errors.exceptions.connect import SparkConnectException

    where = f"Spark Connect server {server} of connection {connection!r}"
    try:
        yield
    except (PySparkAttributeError, PySparkNotImplementedError) as error:
        if condition_of(error) not in _NO_DRIVER:
            raise
        raise ResultError(
            f"the job asks for what only a driver of its own has: {str(error).partition('. ')[0]}; expected DataFrames,"
            " or a connection of type spark for this asset"
        ) from error
    except Exception as error:
        for cause in causes(error):  # the function may have made an error of its own of it
            if not isinstance(cause, (SparkConnectException, grpc.RpcError)):
                continue
            if (refused := _UNPROMISED.search(str(cause))) is not None:
                raise UnpromisedReadError(refused["reason"]) from error
            if (reason := _reason(cause, where)) is not None:
                raise SparkServerError(reason) from error
        raise


def _reason(error: Exception, where: str) -> str | None:
    """What is wrong with the server; ``None`` if it is the query that is wrong."""
    from grpc import StatusCode

    text = str(error)
    if "OPERATION_CANCELED" in text:
        return f"the job was ended on the {where}; nothing was published"
    if _ENDING.search(text):
        return (
            f"the {where} ended while the job ran, perhaps since a job took all its memory; nothing was published. A"
            " job that needs much belongs to a connection of type spark, which gives it a driver of its own"
        )
    if _FORGOTTEN.search(text):
        return (
            f"the {where} was restarted, or has closed the session, while the job ran; nothing was published: try again"
        )
    code: Any = next((getattr(error, name)() for name in _CODES if hasattr(error, name)), None)
    if code is None and (status := _STATUS.search(text)) is not None:
        code = StatusCode[status["name"]]
    details = _DETAILS.search(text)
    first = details["text"] if details else text.strip().partition("\n")[0]
    match code:
        case StatusCode.UNAUTHENTICATED | StatusCode.PERMISSION_DENIED:
            return (
                f"the {where} refused the token; expected the server's own as the connection's password,"
                f" or one that its extra tells how to fetch ({first})"
            )
        case StatusCode.UNIMPLEMENTED:
            return f"the {where} speaks no Spark Connect, or an older one; expected the port of such a server ({first})"
        case StatusCode.UNAVAILABLE | StatusCode.DEADLINE_EXCEEDED | StatusCode.CANCELLED:
            return (
                f"the {where} does not answer; expected one that speaks Spark Connect there, with TLS exactly if the"
                f" connection says so; nothing was published ({first})"
            )
    return None
