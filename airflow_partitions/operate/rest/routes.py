"""Routes: one for each operation, as its contract says."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any

from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import APIRouter, BackgroundTasks, Depends, Path, Query, Request, Response
from pydantic import create_model
from pydantic.fields import FieldInfo

from airflow_partitions.operate.contract.operation import Given, Operation
from airflow_partitions.operate.contract.operations import OPERATIONS
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.rest.guard import Guarded
from airflow_partitions.operate.rest.heavy import alone
from airflow_partitions.operate.rest.permissions import CHECKS, signed_in
from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.tagged_route import TaggedRoute, seen_version, unchanged, with_version
from airflow_partitions.operate.rest.user import User

# Names that no operation has for what it takes.
_PLACES = {"http_request": Request, "http_response": Response, "background": BackgroundTasks, "user": GetUserDep}
_BODY = "body"


def router() -> APIRouter:
    """A router for all operations."""
    api = APIRouter(route_class=TaggedRoute, responses=problems(401, 403, 422, 503))
    for operation in OPERATIONS:
        method, path = operation.route.split()
        api.add_api_route(
            path.replace("{asset}", "{asset:name}").replace("{key}", "{key:name}"),
            _endpoint(operation),
            methods=[method],
            name=operation.called(),
            tags=[operation.noun],
            response_model=operation.answer,
            responses=problems(*operation.refusals),
            dependencies=[Guarded if method == "POST" else Depends(signed_in)],
        )
    return api


def _endpoint(operation: type[Operation]) -> Callable[..., Any]:
    """A function whose signature is what FastAPI takes from a request, and which gives what is answered."""
    in_path = operation.path_fields()
    others = {name: field for name, field in operation.model_fields.items() if name not in in_path}
    parameters = [_parameter(name, _in_path(operation, name)) for name in in_path]
    if operation.route.startswith("GET"):
        parameters += [_parameter(name, _located(field, Query), field) for name, field in others.items()]
    elif others:
        body = _body(operation, others)
        if any(field.is_required() for field in others.values()):
            parameters.append(_parameter(_BODY, body))
        else:  # who says nothing need not send it
            parameters.append(Parameter(_BODY, Parameter.KEYWORD_ONLY, default=None, annotation=body | None))
    versioned = "version" in operation.answer.model_fields

    def endpoint(http_request: Request, http_response: Response, **given: Any) -> Any:
        seen = seen_version(http_request) if versioned else None
        asker = User(given.pop("user"), given.pop("background"), seen, http_request)
        body = given.pop(_BODY, None)
        asked = operation(**given, **({} if body is None else body.model_dump(exclude_unset=True)))
        with alone(asked, asker):
            answered = answer(asked, asker)
        if not versioned:
            return answered
        return unchanged(http_request) if answered is None else with_version(answered, http_response)

    endpoint.__doc__ = operation.__doc__
    places = (_parameter(name, place) for name, place in _PLACES.items())
    endpoint.__signature__ = Signature([*parameters, *places])  # type: ignore[attr-defined]
    return endpoint


def _in_path(operation: type[Operation], name: str) -> Any:
    """A field of the path; what it names is checked to be there, and to be the user's to read or change."""
    located = _located(operation.model_fields[name], Path)
    check = CHECKS.get((operation.route.split()[0], name))
    if check is None:
        return located

    def checked(user: Any, **given: Any) -> Any:
        check(given[name], user)
        return given[name]

    checked.__signature__ = Signature([_parameter(name, located), _parameter("user", GetUserDep)])  # type: ignore[attr-defined]
    return Annotated[operation.model_fields[name].annotation, Depends(checked)]


def _located(field: FieldInfo, place: Callable[..., Any]) -> Any:
    """The type of a *field* that is in one *place* of a request."""
    located = place(description=field.description, examples=field.examples)
    return Annotated[(field.annotation, *field.metadata, located)]


def _body(operation: type[Operation], fields: dict[str, FieldInfo]) -> type[Given]:
    """The model of a body with these *fields*."""
    members: dict[str, Any] = {name: (field.rebuild_annotation(), field) for name, field in fields.items()}
    return create_model(operation.__name__, __base__=Given, __doc__=operation.__doc__, **members)


def _parameter(name: str, annotation: Any, field: FieldInfo | None = None) -> Parameter:
    default = Parameter.empty if field is None or field.is_required() else field.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
