"""The base classes of rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key

if TYPE_CHECKING:
    from typing_extensions import Self


@attrs.frozen
class Sides:
    """The two definitions that a rule connects."""

    downstream: PartitionDefinition
    upstream: PartitionDefinition


class Rule(ABC):  # noqa: B024 - its two kinds say what is abstract
    """The upstream partitions that a downstream partition needs, instead of those of the same time and segments.

    Dags carry a rule in JSON, under the name of its module and class; a rule with arguments adds them in
    :meth:`to_json`. Whoever reads it back must know the class: a plugin registers it.
    """

    @property
    def moving(self) -> bool:
        """Whether the answers change as time goes by, so that they need *now*."""
        return False

    @property
    def fan_out(self) -> int | None:
        """The most downstream keys that one upstream key has, if that is known."""
        return None

    def to_json(self) -> dict[str, Any]:
        """JSON form: ``"rule"`` names the class, all else is for :meth:`from_json`."""
        return {"rule": name_of(type(self))}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The inverse of :meth:`to_json`; by default everything but ``"rule"`` is an argument of the class."""
        return cls(**{name: value for name, value in data.items() if name != "rule"})


class KeyRule(Rule):
    """A rule about whole keys of the two definitions.

    A rule of your own is a subclass that answers in both directions. Each direction must be the inverse of the other.
    What it gives back are keys that the other side has, wrapped, plain or as texts, or a :class:`Selection` of them.

    .. code-block:: python

        WEEK = timedelta(days=7)


        class WeekBefore(KeyRule):
            def upstream(self, key, sides, now):
                return Selection.between(sides.upstream, key.start - WEEK, key.end - WEEK)

            def downstream(self, key, sides, now):
                return Selection.between(sides.downstream, key.start + WEEK, key.end + WEEK)
    """

    @abstractmethod
    def upstream(self, key: Key, sides: Sides, now: datetime | None) -> Iterable[Any]:
        """The upstream keys that the downstream *key* needs."""

    @abstractmethod
    def downstream(self, key: Key, sides: Sides, now: datetime | None) -> Iterable[Any]:
        """The downstream keys that need the upstream *key*."""


def name_of(rule: type[Rule]) -> str:
    """The name under which a rule of someone's own is kept in JSON: ``package.module:Class``."""
    return f"{rule.__module__}:{rule.__qualname__}"


def needs_now(rule: Rule, now: datetime | None) -> datetime:
    """*now*, which a moving rule can't do without."""
    if now is None:
        raise InvalidDefinitionError(
            f"{rule!r} depends on the time at which it is asked; expected now=, an aware datetime"
        )
    return now
