"""Mount of the REST app in Airflow's API server."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.operate.urls import URL_PREFIX

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Receive, Scope, Send


@attrs.frozen
class Mount:
    """The app, which is loaded when it is first asked: tasks and schedulers load the plugin too.

    :ivar pages: folder of files that are served beside it.
    :ivar prefix: of their addresses, within the app.
    """

    pages: Path
    prefix: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer."""
        from fastapi.concurrency import run_in_threadpool

        app = await run_in_threadpool(_app, self)
        await app(scope, receive, send)


@attrs.frozen
class LineBreaks:
    """Lets a path with a line break in it reach the app, which refuses it: what mounts the app does not see such paths.

    :ivar app: Airflow's own.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let Airflow answer."""
        path = scope.get("path", "")
        if "\n" in path and f"{URL_PREFIX}/" in path:
            scope = {**scope, "path": path.replace("\n", "%0A")}
        await self.app(scope, receive, send)


@cache
def _app(mount: Mount) -> FastAPI:
    from starlette.staticfiles import StaticFiles

    from airflow_partitions.operate.rest.app import create_app

    app = create_app()
    app.mount(mount.prefix, StaticFiles(directory=mount.pages), name="view")
    return app
