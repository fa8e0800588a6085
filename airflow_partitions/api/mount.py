"""Mount of the REST app in Airflow's API server."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send


class Mount:
    """The app, which is loaded when it is first asked: tasks and schedulers load the plugin too."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer."""
        from fastapi.concurrency import run_in_threadpool

        app = await run_in_threadpool(_app)
        await app(scope, receive, send)


@cache
def _app() -> FastAPI:
    from airflow_partitions.api.app import create_app

    return create_app()
