"""Translation of errors of file systems and S3 into ones that name dataset, partition and remedy."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import attrs

from airflow_partitions.core.errors import (
    DamagedError,
    DeniedError,
    FullError,
    MissingStoreError,
    PartitionError,
    ReplacedError,
    StorageError,
    UnreachableError,
)

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY = {errno.EROFS}
_NO_BUCKET = {"NoSuchBucket", "InvalidBucketName"}
#: What S3 says about credentials themselves, not about what they allow.
_BAD_CREDENTIALS = {
    "InvalidAccessKeyId", "InvalidClientTokenId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
    "AuthFailure", "TokenRefreshRequired",
}  # fmt: skip
_NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError")
#: Extras of the package, by the library that comes with them.
_EXTRAS = {"fastavro": "avro", "polars": "polars", "s3fs": "s3"}
_CREDENTIALS = "credentials={'key': …, 'secret': …}, a connection, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


@attrs.frozen
class _Failure:
    """An error of ours for one of someone else.

    :ivar kind: its class.
    :ivar reason: what happened.
    :ivar remedy: what to do.
    """

    kind: type[StorageError]
    reason: str
    remedy: str


def about(root: str, partitions: Sequence[str]) -> str:
    """What an error is about: *partitions* of the dataset at *root*, by key or directory."""
    shown = ", ".join(map(repr, partitions[:3])) + (", …" if len(partitions) > 3 else "")
    return f"partition {shown} of {root!r}" if partitions else repr(root)


@contextmanager
def translate_errors(
    what: str | Callable[[], str], verb: str, *, damaged: tuple[type[Exception], ...] = ()
) -> Iterator[None]:
    """Raise errors of file systems, and of the libraries that reach them, as those of ours; the original is the cause.

    :param what: the dataset or partition it is about, or a function that tells it.
    :param verb: what can't be done to it: ``"read"``, ``"written"``.
    :param damaged: what readers of files raise when a file is not what it should be.
    """
    try:
        yield
    except PartitionError:
        raise
    except Exception as error:
        failure = _failure(error, damaged, reading=verb.startswith("read"))
        if failure is None:
            raise
        shown = what() if callable(what) else what
        raise failure.kind(f"{shown} can't be {verb}: {failure.reason}; {failure.remedy}") from error


def _failure(error: Exception, damaged: tuple[type[Exception], ...], *, reading: bool) -> _Failure | None:
    number, code, reason = getattr(error, "errno", None), _code(error), " ".join(str(error).split())
    if _of_botocore(error):
        if type(error).__name__ in _NO_CREDENTIALS:
            return _Failure(DeniedError, reason, f"expected {_CREDENTIALS}")
        return _Failure(UnreachableError, reason, "check endpoint_url and the network, and try again")
    if extra := _EXTRAS.get(_missing(error)):
        here, there = f"pip install 'airflow-partitions[{extra}]'", f"pip install {_missing(error)}"
        return _Failure(StorageError, reason, f"expected it: {here}, or on a Spark driver of another Python: {there}")
    if code in _NO_BUCKET:
        return _Failure(MissingStoreError, reason, "make the bucket, or correct the path")
    if code in _BAD_CREDENTIALS:
        return _Failure(DeniedError, reason, f"expected others: {_CREDENTIALS}")
    if isinstance(error, PermissionError) or number in _READ_ONLY:
        return _Failure(DeniedError, reason, "expected permission to do so for this user or these credentials")
    if number in _FULL:
        return _Failure(FullError, reason, "nothing was published: make room, and try again")
    if reading and (isinstance(error, FileNotFoundError) or type(error).__name__ == "FileExpired"):
        remedy = (
            "it was replaced or removed meanwhile: read again, and clean(keep_replaced=…) later than the longest read"
        )
        return _Failure(ReplacedError, reason, remedy)
    if isinstance(error, ConnectionError | TimeoutError):
        return _Failure(UnreachableError, reason, "check the network, and try again")
    if isinstance(error, damaged) or (damaged and isinstance(error, OSError) and number is None):
        return _Failure(DamagedError, reason, "restore the file, or write the partition anew")
    if isinstance(error, OSError | NotImplementedError):
        return _Failure(StorageError, reason or repr(error), "try again once that is mended")
    return None


def _missing(error: BaseException) -> str:
    """The library that was not found; empty if it is another error."""
    while isinstance(error.__cause__, ImportError):
        error = error.__cause__
    return error.name.partition(".")[0] if isinstance(error, ModuleNotFoundError) and error.name else ""


def _of_botocore(error: Exception) -> bool:
    """Whether S3's library gave up before there was an answer."""
    botocore = sys.modules.get("botocore.exceptions")
    return botocore is not None and isinstance(error, botocore.BotoCoreError)


def _code(error: BaseException | None) -> str:
    """What S3 calls the error; empty if it is none of S3's."""
    while error is not None:
        response = getattr(error, "response", None)
        if isinstance(response, dict):
            return str(response.get("Error", {}).get("Code", ""))
        error = error.__cause__
    return ""
