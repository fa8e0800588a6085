"""The process above a task or a trigger: its execution API, over the metadata database of a test."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import attrs
import psutil
import pytest
import structlog
from pydantic import TypeAdapter
from sqlalchemy import Engine, NullPool, event
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import scoped_session, sessionmaker

from tests.metadata import Metadata

_ASYNCHRONOUS = {"sqlite": "aiosqlite", "postgresql": "asyncpg"}


@attrs.define
class Supervisor:
    """Answers the messages of tasks, and of triggers, which may send fewer.

    :ivar messages: those that were sent.
    :ivar queries: the statements that the answers took.
    """

    comms: Any
    messages: list[Any] = attrs.field(factory=list)
    queries: list[str] = attrs.field(factory=list)

    def send(self, msg: Any) -> Any:
        """Answer a task; what the API refuses is an error of the task, as from a process of its own."""
        from airflow.sdk.api.client import ServerResponseError
        from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
        from airflow.sdk.execution_time.comms import ErrorResponse

        self.messages.append(msg)
        try:
            return self.comms.send(msg)
        except ServerResponseError as error:
            detail = {"status_code": error.response.status_code, "message": str(error)}
            raise AirflowRuntimeError(ErrorResponse(error=ErrorType.API_SERVER_ERROR, detail=detail)) from None

    async def asend(self, msg: Any) -> Any:
        """Answer a trigger."""
        from airflow.jobs.triggerer_job_runner import ToTriggerSupervisor

        TypeAdapter(ToTriggerSupervisor).validate_python(msg.model_dump())
        await asyncio.sleep(0)
        return self.send(msg)


@pytest.fixture
def supervisor(metadata: Metadata, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    """What tasks and triggers of the test ask."""
    from airflow import settings
    from airflow.sdk.execution_time import task_runner
    from airflow.sdk.execution_time.supervisor import InProcessSupervisorComms, InProcessTestSupervisor

    with warnings.catch_warnings(action="ignore"):
        import starlette.testclient  # noqa: F401 - Airflow's in-process API uses it, and it warns of a library of its own
    sessions = sessionmaker(metadata.engine, expire_on_commit=False)
    monkeypatch.setattr(settings, "NonScopedSession", sessions)
    monkeypatch.setattr(settings, "Session", scoped_session(sessions))
    url = metadata.engine.url
    # As Airflow's: each question opens a connection of its own, since it may come from another loop.
    asynchronous = create_async_engine(
        url.set(drivername=f"{url.get_backend_name()}+{_ASYNCHRONOUS[url.get_backend_name()]}"), poolclass=NullPool
    )
    monkeypatch.setattr(
        settings, "AsyncSession", async_sessionmaker(asynchronous, autoflush=False, expire_on_commit=False)
    )
    process = InProcessTestSupervisor(
        id=uuid4(),
        pid=os.getpid(),
        process=psutil.Process(),
        process_log=structlog.get_logger(),
        client=InProcessTestSupervisor._api_client(),
    )
    process.comms = InProcessSupervisorComms(supervisor=process)
    supervisor = Supervisor(process.comms)

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        supervisor.queries.append(statement)

    engines: list[Engine] = [metadata.engine, asynchronous.sync_engine]
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    with patch.object(task_runner, "SUPERVISOR_COMMS", supervisor, create=True):
        yield supervisor
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)
