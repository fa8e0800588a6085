"""The REST app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import attrs
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.operate.rest.names import SLASH
from airflow_partitions.operate.rest.problem import (
    Problem,
    of_database,
    of_error,
    of_failure,
    of_mistakes,
    of_status,
)
from airflow_partitions.operate.rest.routes import router
from airflow_partitions.operate.urls import VERSION_PREFIX

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class RestApp(FastAPI):
    """The app; its OpenAPI document has the form of problems, which routes name by reference."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        if self.openapi_schema is None:
            document = super().openapi()
            schemas = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            document["components"]["schemas"] |= {**schemas.pop("$defs"), "Problem": schemas}
        return super().openapi()


def create_app() -> FastAPI:
    """The app, to be mounted under ``/asset-partitions``."""
    from airflow_partitions import __version__

    app = RestApp(
        title="Asset partitions",
        version=__version__,
        description="Which partitions there are, why one waits, and what makes them.",
        openapi_url=f"{VERSION_PREFIX}/openapi.json",
        docs_url=f"{VERSION_PREFIX}/docs",
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )
    app.include_router(router(), prefix=VERSION_PREFIX)
    app.add_exception_handler(PartitionError, of_error)
    app.add_exception_handler(RequestValidationError, of_mistakes)
    app.add_exception_handler(HTTPException, of_status)
    app.add_exception_handler(OperationalError, of_database)
    app.add_exception_handler(Exception, of_failure)
    app.add_middleware(EncodedSlashes)
    return app


@attrs.frozen
class EncodedSlashes:
    """Takes a slash within a name, written %2F, for a part of the name: else it would be two steps of the path."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path", b"")
        if b"%2f" in raw.lower():
            path = raw.decode("latin-1").replace("%2F", SLASH).replace("%2f", SLASH)
            scope = {**scope, "path": unquote(path)}
        await self.app(scope, receive, send)
