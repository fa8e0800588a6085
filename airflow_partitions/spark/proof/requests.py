"""What a client of Spark Connect sends that reads without a plan: code, rows, other sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import grpc

from airflow_partitions.core.errors import UnpromisedReadError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Messages of the protocol, and what they are to a reader.
_CODE = {
    "PythonUDF": "a Python function of the job, called for rows",
    "PythonUDTF": "a Python table function of the job",
    "PythonDataSource": "a Python data source of the job",
    "JavaUDF": "a Java function of the server",
    "ScalarScalaUDF": "a Scala function of the job",
    "LocalRelation": "rows of the job's own (createDataFrame)",
    "CachedLocalRelation": "rows of the job's own (createDataFrame)",
    "ChunkedCachedLocalRelation": "rows of the job's own (createDataFrame)",
}
_CLONE = "a copy of the session, which is not counted"


class Requests(grpc.UnaryStreamClientInterceptor, grpc.UnaryUnaryClientInterceptor):  # type: ignore[misc]
    """Looks at the requests of one session before they are sent.

    :ivar strict: whether to refuse a copy of the session.
    :param unwatched: what is known to be sent past it, in words.
    """

    def __init__(self, *, strict: bool, unwatched: Iterable[str] = ()) -> None:
        self.strict = strict
        self._kinds: set[str] = set(unwatched)

    @property
    def unwatched(self) -> tuple[str, ...]:
        """What was sent that nobody can watch, in words."""
        return tuple(sorted(self._kinds))

    def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        """A query."""
        self._look(request)
        return continuation(details, request)

    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        """Anything else.

        :raises UnpromisedReadError: if it is a copy of the session, and the job is strict.
        """
        if details.method.endswith("/CloneSession"):
            if self.strict:
                raise UnpromisedReadError(f"the job asked for {_CLONE}; expected its own session, or strict=False")
            self._kinds.add(_CLONE)
        return continuation(details, request)

    def _look(self, request: Any) -> None:
        names = {message.DESCRIPTOR.name for message in _messages(_plain(request))}
        self._kinds.update(words for name, words in _CODE.items() if name in names)


_REQUESTS: WeakKeyDictionary[Any, Requests] = WeakKeyDictionary()


def remember(spark: SparkSession, requests: Requests) -> None:
    """Keep the *requests* of a session until it is gone."""
    _REQUESTS[spark] = requests


def requests_of(spark: SparkSession) -> Requests:
    """The requests of a session; of one that others have made, none are known."""
    return _REQUESTS.get(spark) or Requests(strict=False)


def _plain(request: Any) -> Any:
    """The *request* with its plan as it was before it was compressed."""
    plan = getattr(request, "plan", None)
    if plan is None or plan.WhichOneof("op_type") != "compressed_operation":
        return request
    import zstandard
    from pyspark.sql.connect.proto import Command, Relation

    compressed = plan.compressed_operation
    kind = type(compressed).OpType.Name(compressed.op_type)
    message = Command() if kind.endswith("COMMAND") else Relation()
    message.ParseFromString(zstandard.ZstdDecompressor().decompressobj().decompress(compressed.data))
    return message


def _messages(message: Any) -> Iterator[Any]:
    """A *message* of the protocol and all within it."""
    left = [message]
    while left:
        one = left.pop()
        yield one
        for field, value in one.ListFields():
            if field.type != field.TYPE_MESSAGE:
                continue
            if field.message_type.GetOptions().map_entry:
                values = [value[key] for key in value]
            else:
                values = value if field.is_repeated else [value]
            left += [each for each in values if hasattr(each, "ListFields")]
