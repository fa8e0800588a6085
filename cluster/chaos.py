"""Kill services while partitions are made: each once, as when its machine fails."""

from __future__ import annotations

import time
from collections.abc import Callable

import attrs
import psutil

from cluster.home import ClusterHome
from cluster.state import State
from demo.errors import DemoError

VICTIMS = ("spark-worker-1", "spark-master", "spark-connect", "scheduler-1", "postgres")
PATIENCE = 300.0  # seconds until a service must be there again


@attrs.frozen
class Death:
    """A service that was killed.

    :ivar share: of the part that was done then.
    :ivar seconds: until all services did their work again.
    """

    service: str
    share: float
    seconds: float


@attrs.define
class Chaos:
    """Kills one service after the other, evenly over a part.

    :ivar tell: is told of each.
    """

    home: ClusterHome
    tell: Callable[[str], object]
    deaths: list[Death] = attrs.field(factory=list)

    def watch(self, share: float) -> None:
        """Kill the next one, if it is its turn once *share* of the part is done."""
        number = len(self.deaths)
        if number == len(VICTIMS) or share < (number + 1) / (len(VICTIMS) + 1):
            return
        name = VICTIMS[number]
        before = self._state().service(name)
        if before.process is None or not before.healthy:
            return
        for process in before.process.family:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        started = time.monotonic()
        self.tell(f"killed {name} at {share:.0%}")
        while not ((state := self._state()).healthy and state.service(name).starts > before.starts):
            if time.monotonic() - started > PATIENCE:
                raise DemoError(f"{name} was killed and is not there again after {PATIENCE:.0f} seconds")
            time.sleep(1)
        seconds = time.monotonic() - started
        self.tell(f"{name} was started again, and all services do their work, after {seconds:.0f} seconds")
        self.deaths.append(Death(name, share, seconds))

    def _state(self) -> State:
        state = State.of(self.home)
        if state is None or not state.running:
            raise DemoError("the supervisor has ended")
        return state
