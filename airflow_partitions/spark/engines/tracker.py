"""Where a cluster is asked for jobs that spark-submit has brought there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs

if TYPE_CHECKING:
    from airflow.sdk import Connection


@attrs.frozen(slots=False)
class Tracker(ABC):
    """Knows the driver of each job: by the token of that, and by a name that the cluster has for it.

    Where it does not tell, it raises one of :attr:`errors`.
    """

    #: Arguments of Airflow's operator by which its spark-submit ends when the job has begun.
    words: ClassVar[Mapping[str, Any]]
    #: The Spark property that says whether spark-submit waits for the end.
    waits: ClassVar[str]

    @classmethod
    @abstractmethod
    def of(cls, connection: Connection, words: Mapping[str, Any]) -> Self:
        """That of the cluster of *connection*.

        :param words: arguments of Airflow's operator, ``conf`` among them.
        :raises PartitionError: if it can't be asked.
        """

    @property
    @abstractmethod
    def errors(self) -> tuple[type[Exception], ...]:
        """What it raises where it gives no answer."""

    @abstractmethod
    def conf(self, token: str, conf: Mapping[str, Any]) -> Mapping[str, str]:
        """Spark properties, beside *conf*, by which a job is known by its *token*."""

    @abstractmethod
    def find(self, token: str) -> str | None:
        """The driver of the job with *token*, if there is one."""

    @abstractmethod
    def ending(self, driver: str) -> dict[str, str] | None:
        """How a *driver* has ended: its state, ``SUCCEEDED`` or another, and a message; no state if it is gone.

        ``None`` while it is at work.
        """

    @abstractmethod
    def kill(self, driver: str) -> None:
        """End a *driver*, if it is at work."""
