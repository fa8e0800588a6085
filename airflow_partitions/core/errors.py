"""The errors of the package: one root, each child also the built-in error a caller would expect.

Every message says what was given, what was expected and, where there is one, the nearest valid thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class PartitionError(Exception):
    """Root of all errors of this package."""


class InvalidDefinitionError(PartitionError, ValueError):
    """A partition definition (or a schedule, rule or decorator using one) makes no sense."""


class InvalidKeyError(PartitionError, ValueError):
    """A text or value is not a key of the definition.

    :ivar given: the text or value.
    :param nearest: texts of valid keys close to it, possibly none; or what finds them, for when someone looks: among
        many that takes long. The message then ends with them.
    """

    def __init__(
        self, message: str, *, given: object = None, nearest: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    ) -> None:
        super().__init__(message)
        self.given = given
        self._nearest = nearest

    @property
    def nearest(self) -> tuple[str, ...]:
        """Texts of valid keys close to it, possibly none."""
        self._look()
        return self._nearest if isinstance(self._nearest, tuple) else ()

    @property
    def reason(self) -> str:
        """The message, without keys that nobody has looked for yet."""
        return str(self.args[0])

    def _look(self) -> None:
        if not isinstance(self._nearest, tuple):
            self._nearest = self._nearest()
            if self._nearest:
                self.args = (f"{self.args[0]}; nearest: {', '.join(self._nearest)}",)

    def __str__(self) -> str:
        self._look()
        return super().__str__()

    def __reduce__(self) -> Any:
        self._look()
        return super().__reduce__()


class SelectionError(PartitionError, ValueError):
    """The text of a selection can't be read, or it selects nothing."""


class InvalidRequestError(PartitionError, ValueError):
    """An operation was asked for with a value that it can't take."""


class UnknownAssetError(PartitionError, LookupError):
    """No Dag makes, or waits for, partitions of an asset.

    :ivar given: the name of the asset.
    :ivar nearest: names of assets close to it, possibly none.
    """

    def __init__(self, message: str, *, given: str = "", nearest: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.given = given
        self.nearest = nearest


class RequestSizeError(PartitionError, ValueError):
    """A request is about no partition, or about more than are allowed at once."""


class UnknownRequestError(PartitionError, LookupError):
    """There is no request of that number."""


class NotReadyError(PartitionError, RuntimeError):
    """A Dag can't make what is asked for, as it is now."""


class BusyError(PartitionError, RuntimeError):
    """Something else that takes long is at work, and has to end before."""


class GoneError(PartitionError, ConnectionError):
    """Who asked has gone before the answer was there, so the work for it has ended."""


class OverlapError(PartitionError, RuntimeError):
    """A partition that is asked for is asked for already, or being made.

    :ivar request: the first request that asks for it, by number; ``None`` if a run does that nobody has asked for here.
    """

    def __init__(self, message: str, *, request: int | None = None) -> None:
        super().__init__(message)
        self.request = request


class RemoteError(PartitionError, ConnectionError):
    """Airflow's API server does not answer, or refuses.

    :ivar status: of its answer; ``None`` if there was none.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def may_pass(self) -> bool:
        """Whether the same question may be answered later: the server was away, failed, or was busy."""
        return self.status is None or self.status == 429 or self.status >= 500


class TooManyKeysError(PartitionError, ValueError):
    """A task adds more keys at runtime than Airflow can register in the time that it gives a request."""


class UnknownVersionError(PartitionError, ValueError):
    """A stored form was written by a release of this package that knows another version of it."""


class LayoutError(InvalidDefinitionError):
    """A storage layout can't hold the definition's keys (for example: two keys share one path)."""


class ShippingError(InvalidDefinitionError):
    """A decorated function can't be shipped to a Spark driver."""


class StorageError(PartitionError, OSError):
    """Storage could not be reached, read or written."""


class MissingInputError(StorageError, FileNotFoundError):
    """A partition that a job needs is not stored."""


class ConflictError(StorageError):
    """Another writer was there first; nothing was changed."""


class NotMigratedError(PartitionError, RuntimeError):
    """Airflow's database has not the tables of this release."""


class ReadOnlyError(PartitionError, RuntimeError):
    """Airflow's database refuses to be written; what was begun was taken back."""


class ForeignRowsError(PartitionError, ValueError):
    """A job wrote rows that belong to another partition than the one it was asked for."""


class ResultError(PartitionError, RuntimeError):
    """A job left no result, or one that does not fit what it was asked for."""


class CheckError(PartitionError, ValueError):
    """What was written of a partition fails a check; nothing was published.

    :ivar results: those of all checks of the partition.
    """

    def __init__(self, message: str, *, results: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.results = results


class MissingSparkError(PartitionError, RuntimeError):
    """A job was to run by the Spark of this environment, which has none."""


class UnreadableEventsError(PartitionError, RuntimeError):
    """Airflow's API server can't tell the events of an asset just now."""


class MissingListenerError(PartitionError, RuntimeError):
    """A Spark Connect server can't count what a strict job reads."""


class SparkServerError(PartitionError, ConnectionError):
    """A Spark Connect server does not answer, refuses, or was restarted while a job ran; or a driver did not start, or
    ended without a word of why. Nothing was published."""


class UnansweredError(SparkServerError):
    """The platform that runs a job does not tell how it is."""


class JobError(PartitionError, RuntimeError):
    """A job on a driver of its own failed; the text is the driver's."""


class UnpromisedReadError(PartitionError, RuntimeError):
    """A job read files outside the partitions it was promised (``strict=True``)."""


class MissingPartitionError(PartitionError, LookupError):
    """A run that needs a partition has none, for example because its key was cleared."""


class FilterError(PartitionError, ValueError):
    """A filter makes no sense for its dataset, or would prune nothing."""


class SchemaError(PartitionError, ValueError):
    """Files and the declared schema of their dataset differ in a way that no reader can bridge."""


class ReaderError(PartitionError, ValueError):
    """No reader, or more than one, is known for a kind of frame, protocol and format."""


class CheckpointError(StorageError):
    """The checkpoint of a consumer is damaged, or belongs to another dataset."""


class LeaseLostError(ConflictError):
    """A batch of partitions is no longer its holder's: it took too long, or was put back. Nothing was recorded."""


class ConfirmedError(PartitionError, RuntimeError):
    """A batch of partitions was confirmed before."""


class UnknownOutcomeError(StorageError):
    """Whether a commit was made can't be told: the store took the request, but its answer was lost."""


class NotStoredError(StorageError, FileNotFoundError):
    """A partition that is to be changed is not stored."""


class StoredError(ConflictError, FileExistsError):
    """A partition that is to be created is stored already; nothing was changed."""


class WriterError(PartitionError, ValueError):
    """Rows can't be written in the format of their dataset, or not with its options."""


class UnreachableError(StorageError, ConnectionError):
    """A store does not answer; nothing is known about what it holds."""


class DeniedError(StorageError, PermissionError):
    """A store refuses: there are no credentials, they are wrong, or they don't allow what was tried."""


class MissingStoreError(StorageError, FileNotFoundError):
    """The bucket of a dataset does not exist."""


class FullError(StorageError):
    """A file system has no room; nothing was published."""


class ReplacedError(StorageError, FileNotFoundError):
    """A file was replaced or removed while it was read."""


class DamagedError(StorageError, ValueError):
    """A file does not hold what its format asks for."""


def causes(error: BaseException) -> Iterator[BaseException]:
    """*error*, and what has led to it, the nearest first."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
