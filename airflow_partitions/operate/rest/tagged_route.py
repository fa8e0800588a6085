"""Answers as the operation gives them, with an ETag: who has it already gets no body."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from hashlib import blake2b
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from airflow_partitions.operate.rest.json_answer import JsonAnswer

_HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}


class TaggedRoute(APIRoute):
    """A route whose answers to GET have an ETag; the fields of an answer are those that the operation gives."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "response_model_exclude_unset": True, "response_class": JsonAnswer})

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, with tags."""
        handler = super().get_route_handler()

        async def tagged(request: Request) -> Response:
            answer = await handler(request)
            if request.method != "GET" or answer.status_code != HTTPStatus.OK:
                return answer
            version = blake2b(bytes(answer.body), digest_size=12).hexdigest()
            tag = answer.headers.get("ETag", _tag(version))
            if tag in request.headers.get("If-None-Match", ""):
                return _not_modified(tag)
            answer.headers.update({"ETag": tag, **_HEADERS})
            return answer

        return tagged


def seen_version(request: Request) -> str | None:
    """The version of the answer that the asker has already, as far as a *request* says it."""
    tag = re.search(r'"([^"]*)"', request.headers.get("If-None-Match", ""))
    return None if tag is None else tag[1]


def with_version(answer: dict[str, Any], response: Response) -> dict[str, Any]:
    """An *answer* of which the operation says the version, which becomes the ETag of the *response*."""
    response.headers["ETag"] = _tag(answer["version"])
    return answer


def unchanged(request: Request) -> Response:
    """The answer to who has the newest one already."""
    return _not_modified(_tag(seen_version(request) or ""))


def _tag(version: str) -> str:
    return f'W/"{version}"'


def _not_modified(tag: str) -> Response:
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag, **_HEADERS})
