"""A user of Airflow who asks by REST."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from anyio import from_thread, move_on_after
from fastapi import BackgroundTasks, Request

from airflow_partitions.core.errors import GoneError
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.rest import permissions

T = TypeVar("T")

#: Seconds in which it is told that the caller has gone.
_MOMENT = 0.02


class User(Asker):
    """The user of a request.

    :param background: what is done after the answer.
    :param seen: the version of the answer that the user has.
    :param request: that of HTTP.
    """

    def __init__(self, user: BaseUser, background: BackgroundTasks, seen: str | None, request: Request) -> None:
        self._user, self._background, self.seen, self._request = user, background, seen, request

    @property
    def name(self) -> str:
        return self._user.get_name()

    @cached_property
    def readable(self) -> set[str]:
        return permissions.readable_dags(self._user)

    def startable(self, dag_ids: Collection[str]) -> set[str]:
        return permissions.startable(dag_ids, self._user)

    def editable(self, dag_ids: Collection[str]) -> set[str]:
        return permissions.editable(dag_ids, self._user)

    def check_reading(self, asset: str) -> None:
        permissions.check_readable_asset(asset, self._user)

    def check_pausing(self, dag_ids: Collection[str]) -> None:
        permissions.check_pausing(dag_ids, self._user)

    def does_later(self, work: Callable[[], object]) -> bool:
        self._background.add_task(work)
        return True

    def check_waiting(self) -> None:
        if from_thread.run(self._has_gone):
            raise GoneError("the caller has gone before the answer was there, so the work for it has ended")

    async def _has_gone(self) -> bool:
        # The framework's own question is never answered with yes behind Airflow's middlewares, which take a moment.
        with move_on_after(_MOMENT):
            while (await self._request.receive())["type"] != "http.disconnect":
                pass
            return True
        return False

    def track(self, steps: Iterable[T]) -> Iterator[T]:
        for step in steps:
            self.check_waiting()
            yield step
