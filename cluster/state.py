"""What the supervisor last knew of its services, in a file that others read."""

from __future__ import annotations

import json
from typing import Any

import attrs

from cluster.home import ClusterHome
from demo.home import Home
from demo.processes import Service


@attrs.frozen(kw_only=True)
class Watched:
    """One service.

    :ivar process: ``None`` before its first start.
    :ivar starts: how often it was started.
    :ivar seconds: of a processor that it has taken, it and all that it has started.
    :ivar broken: it has ended again and again without having been healthy once.
    """

    name: str
    process: Service | None = None
    starts: int = 0
    healthy: bool = False
    seconds: float = 0.0
    broken: bool = False

    @classmethod
    def of(cls, form: dict[str, Any]) -> Watched:
        """Read from JSON."""
        return cls(**{**form, "process": form["process"] and Service(**form["process"])})


@attrs.frozen
class State:
    """The supervisor and its services."""

    supervisor: Service
    services: tuple[Watched, ...]

    @classmethod
    def of(cls, home: Home) -> State | None:
        """That of *home*; ``None`` if nothing was started, or all was stopped."""
        if not home.processes.exists():
            return None
        form = json.loads(home.processes.read_text())
        return cls(Service(**form["supervisor"]), tuple(map(Watched.of, form["services"])))

    @property
    def running(self) -> bool:
        """Whether the supervisor is there."""
        return self.supervisor.process is not None

    @property
    def healthy(self) -> bool:
        """Whether all services do their work."""
        return self.running and bool(self.services) and all(each.healthy for each in self.services)

    @property
    def seconds(self) -> float:
        """Of a processor, of all services."""
        return sum(each.seconds for each in self.services)

    def service(self, name: str) -> Watched:
        """The service of that name."""
        return next(each for each in self.services if each.name == name)

    def save(self, home: ClusterHome) -> None:
        """Write the file in one step."""
        draft = home.processes.with_suffix(".draft")
        draft.write_text(json.dumps(attrs.asdict(self), indent=1))
        draft.replace(home.processes)
