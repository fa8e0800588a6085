"""The upstream assets of a Dag, and how their partitions belong to the Dag's own."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from threading import RLock
from typing import Any

import attrs
from airflow.serialization.decoders import decode_asset_like
from airflow.serialization.definitions.assets import SerializedAssetBase, SerializedAssetNameRef
from airflow.serialization.encoders import encode_asset_like
from cachetools import TTLCache, cached

from airflow_partitions.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.dependencies import Dependency, Foreign, Overlap, Rule, check_inverse
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.history.ledger_keys import keys_of
from airflow_partitions.keys import Key
from airflow_partitions.timetables.asset_extra import Made, published
from airflow_partitions.timetables.condition import Leaf, leaves
from airflow_partitions.timetables.rules import read_rule, write_rule
from airflow_partitions.timetables.run_policy import Firing
from airflow_partitions.timetables.ticks import Ticks, ticks_for

#: Airflow drops an event whole that makes more downstream keys than its cap. Ours is above what a Dag file may ask for.
MAX_DOWNSTREAM_KEYS = 100_000


@attrs.frozen(slots=False)
class Upstream:
    """An upstream asset, what partitions it has, and how the Dag's depend on them.

    :ivar uri: empty where the Dag names the asset only.
    :ivar made: what partitions its producer makes.
    :ivar foreign: how its keys are written, if not as ours.
    """

    name: str
    uri: str
    made: Made
    dependency: Dependency
    foreign: Foreign | None = None

    @property
    def definition(self) -> PartitionDefinition:
        """What partitions it has."""
        return self.made.definition

    @cached_property
    def ticks(self) -> Ticks:
        """When its producer looks for partitions to make."""
        return ticks_for(self.made.definition, self.made.ticks)

    def text(self, key: Key) -> str:
        """*key* as the asset's events carry it."""
        return str(key) if self.foreign is None else self.foreign.text(key)

    def keys(self, text: str) -> tuple[Key, ...]:
        """The keys that an event with *text* is about.

        :raises InvalidKeyError: if there are none; the message names the asset.
        """
        try:
            return keys_of(self.foreign or self.definition, text)
        except InvalidKeyError as error:
            raise InvalidKeyError(f"asset {self.name!r}: {error}", given=text) from None


class Upstreams:
    """The upstream assets of a Dag, the condition on them, and how their partitions belong to the Dag's own.

    An upstream named by ``Asset.ref`` alone is looked up among the Dags that make it when it is first asked for, which
    only scheduler and API server can do.

    :param downstream: what partitions the Dag makes.
    :param condition: an asset, or assets joined by ``&`` and ``|``.
    :param known: definitions of upstreams by asset name, for those that don't publish one.
    :param rules: what replaces overlap, by asset name.
    :param firing: when a partition is made, and made again.
    :raises InvalidDefinitionError: for definitions or rules of other assets.
    """

    def __init__(
        self,
        downstream: PartitionDefinition,
        condition: SerializedAssetBase,
        known: Mapping[str, PartitionDefinition | Foreign | Made],
        rules: Mapping[str, Rule],
        firing: Firing,
    ) -> None:
        self.downstream = downstream
        self.condition = condition
        self.firing = firing
        self.leaves: Mapping[str, Leaf] = {leaf.name: leaf for leaf in leaves(condition)}
        for kind, given in (("rules", rules), ("upstreams", known)):
            if unknown := set(given) - set(self.leaves):
                raise InvalidDefinitionError(
                    f"{kind} for {', '.join(sorted(unknown))}; the upstream assets are: {', '.join(self.leaves)}"
                )
        self._known = known
        self._rules = rules
        self._found: dict[str, Upstream] = {}

    def check(self) -> None:
        """Refuse what can't work, as far as it can be known without looking up who makes an asset.

        :raises InvalidDefinitionError: naming the asset, and what to write instead.
        """
        for name in self.leaves:
            if not self._looked_up(name):
                member = self.member(name)
                self._check(name, member.made, member.dependency)

    def member(self, name: str) -> Upstream:
        """The upstream asset called *name*.

        :raises InvalidDefinitionError: if nobody says what partitions it has, or they can never meet the Dag's.
        """
        if name not in self._found:
            self._found[name] = self._member(self.leaves[name])
        return self._found[name]

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`, in a stable order: Airflow compares parts of it."""
        return {
            "assets": encode_asset_like(self.condition),
            "upstreams": {name: self.said(name) for name in self.leaves},
            "rules": {name: write_rule(rule) for name, rule in self._rules.items()},
            "firing": self.firing.to_json(),
        }

    @classmethod
    def from_json(cls, downstream: PartitionDefinition, data: Mapping[str, Any]) -> Upstreams:
        """The inverse of :meth:`to_json`; what was checked when the Dag was parsed is not checked again."""
        known: dict[str, Any] = {}
        old = {name: {"definition": form} for name, form in data.get("definitions", {}).items()}  # an older form
        for name, said in data.get("upstreams", old).items():
            if said is not None:
                known[name] = Foreign.from_json(said["foreign"]) if "foreign" in said else Made.from_json(said)
        rules = {name: read_rule(form) for name, form in data["rules"].items()}
        firing = Firing.from_json(data["firing"]) if "firing" in data else Firing()
        return cls(downstream, decode_asset_like(data["assets"]), known, rules, firing)

    def said(self, name: str) -> dict[str, Any] | None:
        """What the Dag file says of the upstream called *name*; ``None`` if it says nothing."""
        if self._looked_up(name):
            return None
        member = self.member(name)
        return member.made.to_json() | ({} if member.foreign is None else {"foreign": member.foreign.to_json()})

    def rule(self, name: str) -> Rule:
        """What replaces overlap for the upstream called *name*."""
        return self._rules.get(name, Overlap())

    def _looked_up(self, name: str) -> bool:
        """Whether an upstream is known by its name only."""
        leaf = self.leaves[name]
        return isinstance(leaf, SerializedAssetNameRef) and name not in self._known

    def _member(self, leaf: Leaf) -> Upstream:
        uri = "" if isinstance(leaf, SerializedAssetNameRef) else leaf.uri
        known = self._known.get(leaf.name)
        if isinstance(known, Made):
            made, foreign = known, None
        elif isinstance(known, Foreign):
            made, foreign = Made(known.definition), known
        elif known is not None:
            made, foreign = Made(known), None
        else:
            made, foreign = self._told(leaf), None
        dependency = Dependency(self.downstream, made.definition, self.rule(leaf.name))
        return Upstream(leaf.name, uri, made, dependency, foreign)

    def _told(self, leaf: Leaf) -> Made:
        """What the producer says."""
        if isinstance(leaf, SerializedAssetNameRef):
            return _produced(leaf.name)
        made = published(leaf.extra)
        if made is None:
            raise InvalidDefinitionError(
                f"upstream asset {leaf.name!r} has no partitions to wait for: an event of it never starts a partition."
                f" Schedule on an asset made by @asset(partition=…); name one made in another file"
                f" Asset.ref(name={leaf.name!r}); or say what it has:"
                f" upstreams={{{leaf.name!r}: PartitionByInterval(…)}}"
            )
        return made

    def _check(self, name: str, made: Made, dependency: Dependency) -> None:
        if dependency.needs_tick and made.ticks is None:
            raise InvalidDefinitionError(
                f"upstream asset {name!r} has neither a time dimension nor a time schedule: its events can't say which"
                f" intervals of {self.downstream!r} to make. Give it one, or a rule:"
                f" rules={{{name!r}: AllPartitions()}}"
            )
        most = dependency.fan_out()
        if most is not None and most > MAX_DOWNSTREAM_KEYS:
            raise InvalidDefinitionError(
                f"one partition of {name!r} would make {most:,} partitions of {self.downstream!r}; expected at most"
                f" {MAX_DOWNSTREAM_KEYS:,}: make them coarser, or backfill them instead"
            )
        if type(dependency.rule).__module__.partition(".")[0] != __name__.partition(".")[0]:
            check_inverse(dependency, datetime.fromisoformat("2024-06-01T00:00:00+00:00"))


def check_schedulable(definition: PartitionDefinition) -> None:
    """Refuse definitions whose runs can't be known before they are made."""
    if isinstance(definition, PartitionAtRuntime):
        raise InvalidDefinitionError(
            f"{definition!r} has no keys before a task runs, so no tick can make one run per key;"
            " expected PartitionByInterval, PartitionBySequence or PartitionByProduct"
        )


@cached(TTLCache(maxsize=1000, ttl=10), lock=RLock())
def _produced(name: str) -> Made:
    """What the Dags that make the asset called *name* say of its partitions; read anew after ten seconds."""
    from airflow_partitions.history.producers import producing_timetables

    makes = (getattr(timetable, "makes", None) for timetable in producing_timetables(name))
    found: list[Made] = [made for made in makes if made is not None]
    if not found:
        raise InvalidDefinitionError(
            f"no Dag makes partitions of the asset {name!r}; expected one with @asset(partition=…) or"
            f" Partitioned(…, asset={name}), or upstreams={{{name!r}: PartitionByInterval(…)}} in the Dag that waits"
        )
    if any(made.definition != found[0].definition for made in found):
        raise InvalidDefinitionError(
            f"the Dags that make the asset {name!r} disagree about its partitions:"
            f" {' and '.join(repr(made.definition) for made in found)}; expected one definition"
        )
    return found[0]
