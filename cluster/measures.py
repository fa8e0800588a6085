"""What the parts of the course have taken, over all calls."""

from __future__ import annotations

import json

import attrs

from cluster.home import ClusterHome


@attrs.frozen
class Measure:
    """What a part has taken.

    :ivar partitions: that were made meanwhile.
    :ivar seconds: from the first request to the last success.
    :ivar processor: seconds of a processor, of all services.
    """

    partitions: int = 0
    seconds: float = 0.0
    processor: float = 0.0

    def __add__(self, other: Measure) -> Measure:
        return Measure(
            self.partitions + other.partitions, self.seconds + other.seconds, self.processor + other.processor
        )


def measures(home: ClusterHome) -> dict[str, Measure]:
    """By part, what all calls have taken for it."""
    if not home.measures.exists():
        return {}
    return {name: Measure(**form) for name, form in json.loads(home.measures.read_text()).items()}


def add(home: ClusterHome, part: str, measure: Measure) -> None:
    """Remember what a call has taken for a part."""
    parts = measures(home)
    parts[part] = parts.get(part, Measure()) + measure
    home.measures.write_text(json.dumps({name: attrs.asdict(each) for name, each in parts.items()}))
