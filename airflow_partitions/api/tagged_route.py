"""Answers as the operation gives them, with an ETag: who has it already gets no body."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from hashlib import blake2b
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute


class TaggedRoute(APIRoute):
    """A route whose answers to GET have an ETag; the fields of an answer are those that the operation gives."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "response_model_exclude_unset": True})

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, with tags."""
        handler = super().get_route_handler()

        async def tagged(request: Request) -> Response:
            answer = await handler(request)
            if request.method != "GET" or answer.status_code != HTTPStatus.OK:
                return answer
            tag = f'W/"{blake2b(bytes(answer.body), digest_size=12).hexdigest()}"'
            headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
            if tag in request.headers.get("If-None-Match", ""):
                return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
            answer.headers.update(headers)
            return answer

        return tagged
