"""Who asks for an operation, and what that one may see and do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from getpass import getuser
from typing import TypeVar

from airflow_partitions.engine.graph.partitioned_assets import AssetDags

T = TypeVar("T")


class Asker:
    """The user of this process, who may see and do all, as with Airflow's own commands.

    :ivar seen: the version of an answer to the same question that the asker has; ``None`` if there is none.
    """

    seen: str | None = None

    @property
    def name(self) -> str:
        """What is kept of who asked."""
        return getuser()

    @property
    def readable(self) -> Collection[str] | None:
        """The ids of the Dags that the asker may read; ``None`` for all."""
        return None

    def startable(self, dag_ids: Collection[str]) -> Collection[str]:
        """Those of some Dags of which the asker may start runs."""
        return dag_ids

    def editable(self, dag_ids: Collection[str]) -> Collection[str]:
        """Those of some Dags that the asker may change, so that one may pause and unpause them."""
        return dag_ids

    def check_reading(self, asset: str) -> None:
        """Refuse an asker who may not read an *asset*."""

    def check_pausing(self, dag_ids: Collection[str]) -> None:
        """Refuse an asker who may not pause and unpause all these Dags."""

    def does_later(self, work: Callable[[], object]) -> bool:
        """Whether *work* is done by itself after the answer; else it is to be done now."""
        return False

    def check_waiting(self) -> None:
        """Refuse to go on with long work for an asker who has gone.

        :raises GoneError: if so.
        """

    def track(self, steps: Iterable[T]) -> Iterable[T]:
        """The *steps* of long work, while they are gone through."""
        return steps

    def sees(self, asset: AssetDags) -> bool:
        """Whether the asker may read all Dags by which an *asset* is known."""
        return self.readable is None or asset.owned_by(self.readable)
