"""Problem documents (RFC 9457): what was given, what was expected, and the nearest valid thing."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from airflow_partitions.core.errors import (
    BusyError,
    ConflictError,
    DeniedError,
    GoneError,
    MissingPartitionError,
    NotMigratedError,
    NotReadyError,
    OverlapError,
    PartitionError,
    ReadOnlyError,
    StorageError,
    UnknownAssetError,
    UnknownRequestError,
    UnknownVersionError,
)
from airflow_partitions.operate.rest.json_answer import JsonAnswer

#: After so long it is worth to ask again.
_SECONDS = 10
MEDIA_TYPE = "application/problem+json"
#: The status of an answer by the class of the error, the first that fits; what a caller says wrong is 422.
STATUSES: tuple[tuple[type[PartitionError], HTTPStatus], ...] = (
    (UnknownAssetError, HTTPStatus.NOT_FOUND),
    (UnknownRequestError, HTTPStatus.NOT_FOUND),
    (GoneError, HTTPStatus.REQUEST_TIMEOUT),
    (BusyError, HTTPStatus.TOO_MANY_REQUESTS),
    (OverlapError, HTTPStatus.CONFLICT),
    (NotReadyError, HTTPStatus.CONFLICT),
    (MissingPartitionError, HTTPStatus.NOT_FOUND),
    (ConflictError, HTTPStatus.CONFLICT),
    (DeniedError, HTTPStatus.SERVICE_UNAVAILABLE),
    (StorageError, HTTPStatus.SERVICE_UNAVAILABLE),
    (UnknownVersionError, HTTPStatus.SERVICE_UNAVAILABLE),
    (NotMigratedError, HTTPStatus.SERVICE_UNAVAILABLE),
    (ReadOnlyError, HTTPStatus.SERVICE_UNAVAILABLE),
    (PartitionError, HTTPStatus.UNPROCESSABLE_ENTITY),
)


class Mistake(BaseModel):
    """A part of a request that can't be read."""

    field: str = Field(
        description="Where it is: path, query or body, and the names down to it", examples=["query.limit"]
    )
    detail: str


class Problem(BaseModel):
    """Why a request was refused."""

    type: str = Field(examples=["urn:airflow-partitions:unknown-asset"], description="The same for the same problem")
    title: str = Field(examples=["Unknown asset"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["no Dag makes or waits for partitions of an asset 'hourly'; nearest: hourly_flights"])
    given: str | None = Field(default=None, examples=["hourly"])
    expected: str | None = Field(default=None, description="What would be valid, where the detail does not say it")
    nearest: list[str] = Field(default=[], examples=[["hourly_flights"]], description="Valid things close to it")
    request: int | None = Field(default=None, description="The request that is in the way")
    mistakes: list[Mistake] = Field(default=[], description="Of a request that can't be read")


class ProblemAnswer(JsonAnswer):
    """A problem document."""

    media_type = MEDIA_TYPE


def problem(status: int, title: str, detail: str, **more: Any) -> ProblemAnswer:
    """The answer to a request that is refused."""
    document = Problem(type=f"urn:airflow-partitions:{'-'.join(title.lower().split())}", title=title, status=status,
                       detail=detail, **more)  # fmt: skip
    return ProblemAnswer(document.model_dump(exclude_defaults=True), status)


def of_error(_: Request, error: Exception) -> ProblemAnswer:
    """The problem that an *error* of this package stands for."""
    status = next(status for kind, status in STATUSES if isinstance(error, kind))
    given = getattr(error, "given", None)
    answer = problem(
        status,
        _words(type(error).__name__.removesuffix("Error")),
        str(error),
        given=None if given is None else str(given),
        nearest=list(getattr(error, "nearest", ())),
        request=getattr(error, "request", None),
    )
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        answer.headers["Retry-After"] = str(_SECONDS)
    return answer


def of_mistakes(_: Request, error: Exception) -> ProblemAnswer:
    """The problem of a request that can't be read."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - Starlette types handlers by the root of all
    mistakes = [Mistake(field=".".join(map(str, each["loc"])), detail=each["msg"]) for each in error.errors()]
    detail = "; ".join(f"{mistake.field}: {mistake.detail}" for mistake in mistakes)
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, "Invalid request", detail, mistakes=mistakes)


def of_status(_: Request, error: Exception) -> ProblemAnswer:
    """The problem that Airflow or the framework answers by its status."""
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    answer = problem(error.status_code, HTTPStatus(error.status_code).phrase.capitalize(), str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def of_database(_: Request, error: Exception) -> ProblemAnswer:
    """The problem that Airflow's database does not answer, or is locked."""
    reason = f"Airflow's database does not answer: {type(error).__name__}; try again"
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, "Database unavailable", reason)


def of_failure(_: Request, __: Exception) -> ProblemAnswer:
    """The problem that the server itself fails; the reason is in its log."""
    reason = "The server failed; the log of Airflow's API server says why"
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "Server failed", reason)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The description of answers with these *statuses*, for the OpenAPI document."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def _words(name: str) -> str:
    """A class's name as words: UnknownAsset -> Unknown asset."""
    return "".join(f" {letter}" if letter.isupper() else letter for letter in name).strip().capitalize()
