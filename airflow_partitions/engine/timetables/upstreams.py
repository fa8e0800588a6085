"""The upstream assets of a Dag, and the dependencies of its partitions on theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from threading import RLock
from typing import Any

import attrs
from airflow.serialization.decoders import decode_asset_like
from airflow.serialization.definitions.assets import SerializedAssetBase, SerializedAssetNameRef
from airflow.serialization.encoders import encode_asset_like
from airflow.timetables.base import Timetable
from cachetools import TTLCache, cached

from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition, WholeAsset
from airflow_partitions.core.dependencies import Dependency, KeyFormat, Overlap, Rule, Unpartitioned, check_inverse
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.ledger.addresses import keys_of
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, read_extra
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.condition import Leaf, leaves
from airflow_partitions.engine.timetables.listed import as_listed
from airflow_partitions.engine.timetables.rules import read_rule, write_rule
from airflow_partitions.engine.timetables.run_policy import RunPolicy
from airflow_partitions.engine.timetables.ticks import Ticks, ticks_for

#: Airflow drops an event whole that makes more downstream keys than its cap. Ours is above what a Dag file may ask for.
MAX_DOWNSTREAM_KEYS = 100_000
_PRODUCED: TTLCache[str, ProducedPartitions] = TTLCache(maxsize=10_000, ttl=10)
_LOCK = RLock()


@attrs.frozen(slots=False)
class Upstream:
    """An upstream asset, its partitions, and the dependency of the Dag's on them.

    :ivar uri: empty where the Dag names the asset only.
    :ivar produced: the partitions that its producer makes.
    :ivar key_format: of its keys, if they are not written as ours.
    """

    name: str
    uri: str
    produced: ProducedPartitions
    dependency: Dependency
    key_format: KeyFormat | None = None

    @property
    def definition(self) -> PartitionDefinition:
        """Of its partitions."""
        return self.produced.definition

    @cached_property
    def ticks(self) -> Ticks:
        """The ticks of its producer."""
        return ticks_for(self.produced.definition, self.produced.ticks)

    def text(self, key: Key) -> str:
        """*key* as the asset's producer writes it."""
        return str(key) if self.key_format is None else self.key_format.text(key)

    def texts(self, key: Key) -> tuple[str, ...]:
        """The texts by which the asset's events may mean *key*; the first is its own."""
        return (str(key),) if self.key_format is None else self.key_format.texts(key)

    def keys(self, text: str) -> tuple[Key, ...]:
        """The keys that an event with *text* is about.

        :raises InvalidKeyError: if there are none; the message names the asset.
        """
        try:
            return keys_of(self.key_format or self.definition, text)
        except InvalidKeyError as error:
            raise InvalidKeyError(f"asset {self.name!r}: {error}", given=text) from None


class Upstreams:
    """The upstream assets of a Dag, the condition on them, and the dependencies of its partitions on theirs.

    An upstream named by ``Asset.ref`` alone is looked up among the Dags that make it when it is first asked for, which
    only scheduler and API server can do.

    :param downstream: definition of the Dag's partitions.
    :param condition: an asset, or assets joined by ``&`` and ``|``.
    :param definitions: of upstreams by asset name, for those that don't publish one.
    :param rules: instead of overlap, by asset name.
    :param run_policy: by which a partition is made, and made again.
    :raises InvalidDefinitionError: for definitions or rules of other assets.
    """

    def __init__(
        self,
        downstream: PartitionDefinition,
        condition: SerializedAssetBase,
        definitions: Mapping[str, PartitionDefinition | KeyFormat | ProducedPartitions],
        rules: Mapping[str, Rule],
        run_policy: RunPolicy,
    ) -> None:
        check_by_name("upstreams", definitions)
        check_by_name("rules", rules)
        self.downstream = downstream
        self.condition = condition
        self.run_policy = run_policy
        self.leaves: Mapping[str, Leaf] = {leaf.name: leaf for leaf in leaves(condition)}
        for kind, names in (("rules", rules), ("upstreams", definitions)):
            if unknown := set(names) - set(self.leaves):
                raise InvalidDefinitionError(
                    f"{kind} for {', '.join(sorted(unknown))}; the upstream assets are: {', '.join(self.leaves)}"
                )
        self._definitions = definitions
        self._rules = rules
        self._members: dict[str, Upstream] = {}

    def check(self) -> None:
        """Refuse what can't work, as far as it shows without a look-up of who makes an asset.

        :raises InvalidDefinitionError: naming the asset, and what to write instead.
        """
        if self.run_policy.at is not None and self.downstream.time is None:
            raise InvalidDefinitionError(
                f"at={str(self.run_policy.at)!r} with {self.downstream!r}; expected partitions with a time dimension:"
                " it counts from the end of their intervals"
            )
        for name in self.leaves:
            if not self.is_looked_up(name):
                member = self.member(name)
                self._check(name, member.produced, member.dependency)

    def member(self, name: str) -> Upstream:
        """The upstream asset called *name*.

        :raises InvalidDefinitionError: if nobody says what partitions it has, or they can never meet the Dag's.
        """
        if name not in self._members:
            self._members[name] = self._member(self.leaves[name])
        return self._members[name]

    @property
    def words(self) -> str:
        """What a partition waits for, in words."""
        at = self.run_policy.at
        return "by assets" if at is None else f"by assets, not before {at}"

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`, in a stable order: Airflow compares parts of it."""
        return {
            "assets": encode_asset_like(self.condition),
            "upstreams": {name: self.declared(name) for name in self.leaves},
            "rules": {name: write_rule(rule) for name, rule in self._rules.items()},
            "run_policy": self.run_policy.to_json(),
        }

    @classmethod
    def from_json(cls, downstream: PartitionDefinition, data: Mapping[str, Any]) -> Upstreams:
        """The inverse of :meth:`to_json`; what was checked when the Dag was parsed is not checked again."""
        definitions = {
            name: KeyFormat.from_json(form["key_format"])
            if "key_format" in form
            else _listed(ProducedPartitions.from_json(form["produced"]))
            for name, form in data["upstreams"].items()
            if form is not None
        }
        rules = {name: read_rule(form) for name, form in data["rules"].items()}
        run_policy = RunPolicy.from_json(data["run_policy"])
        return cls(downstream, decode_asset_like(data["assets"]), definitions, rules, run_policy)

    def declared(self, name: str) -> dict[str, Any] | None:
        """JSON form of what the Dag file says of the upstream called *name*; ``None`` if it says nothing."""
        if self.is_looked_up(name):
            return None
        member = self.member(name)
        if member.key_format is not None:
            return {"key_format": member.key_format.to_json()}
        return {"produced": member.produced.to_json()}

    def rule(self, name: str) -> Rule:
        """The rule for the upstream called *name*: overlap, where there is no other."""
        return self._rules.get(name, Overlap())

    @property
    def lists(self) -> Iterator[PartitionAtRuntime]:
        """The definitions by whose lists it is known which combinations exist, of upstreams that need no look-up."""
        for name in self.leaves:
            if not self.is_looked_up(name) and (listed := self.member(name).definition.listed) is not None:
                yield listed

    def is_looked_up(self, name: str) -> bool:
        """Whether an upstream is named only, so that its definition has to be looked up."""
        leaf, has_rule = self.leaves[name], isinstance(self.rule(name), Unpartitioned)
        return isinstance(leaf, SerializedAssetNameRef) and name not in self._definitions and not has_rule

    def _member(self, leaf: Leaf) -> Upstream:
        uri = "" if isinstance(leaf, SerializedAssetNameRef) else leaf.uri
        definition = self._definitions.get(leaf.name)
        key_format = definition if isinstance(definition, KeyFormat) else None
        if isinstance(rule := self.rule(leaf.name), Unpartitioned):
            produced = self._whole(leaf, rule)
        elif isinstance(definition, ProducedPartitions):
            produced = definition
        elif isinstance(definition, KeyFormat):
            produced = ProducedPartitions(definition.definition)
        elif definition is not None:
            produced = ProducedPartitions(definition)
        else:
            produced = self._published(leaf)
        dependency = Dependency(self.downstream, produced.definition, rule)
        return Upstream(leaf.name, uri, produced, dependency, key_format)

    def _whole(self, leaf: Leaf, rule: Unpartitioned) -> ProducedPartitions:
        """An upstream that its *rule* says to have no partitions.

        :raises InvalidDefinitionError: if something else says that it has some, or there is no newest to make of it.
        """
        definition = self._definitions.get(leaf.name)
        produced = None if isinstance(leaf, SerializedAssetNameRef) else read_extra(leaf.extra)
        if produced is not None or not isinstance(definition, ProducedPartitions | None):
            partitions = definition if produced is None else produced.definition
            raise InvalidDefinitionError(
                f"rules={{{leaf.name!r}: {rule!r}}}, but asset {leaf.name!r} has partitions: {partitions!r}; expected"
                " no rule, or LatestPartition(), of which the newest counts for all too"
            )
        if isinstance(self.downstream, PartitionAtRuntime) and rule.makes == "newest":
            raise InvalidDefinitionError(
                f"rules={{{leaf.name!r}: {rule!r}}} makes the newest partition of {self.downstream!r} again, whose keys"
                " are known at runtime only; expected Unpartitioned(makes='nothing')"
            )
        return ProducedPartitions(WholeAsset())

    def _published(self, leaf: Leaf) -> ProducedPartitions:
        """The partitions of an asset as its producer publishes them."""
        if isinstance(leaf, SerializedAssetNameRef):
            return _produced(leaf.name)
        produced = read_extra(leaf.extra)
        if produced is None:
            raise InvalidDefinitionError(
                f"upstream asset {leaf.name!r} has no partitions to wait for: an event of it never starts a partition."
                f" Schedule on an asset made by @asset(partition=…); name one made in another file"
                f" Asset.ref(name={leaf.name!r}); say what it has:"
                f" upstreams={{{leaf.name!r}: PartitionByInterval(…)}}; or that it has none, and one event of it is"
                f" enough: rules={{{leaf.name!r}: Unpartitioned()}}"
            )
        return produced

    def _check(self, name: str, produced: ProducedPartitions, dependency: Dependency) -> None:
        if dependency.needs_tick and produced.ticks is None:
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


def check_by_name(parameter: str, value: Any) -> None:
    """Refuse what is no mapping from names of assets or inputs.

    :raises InvalidDefinitionError: naming the *parameter*.
    """
    if not isinstance(value, Mapping):
        raise InvalidDefinitionError(
            f"{parameter}={value!r}; expected each by the name of its asset or input: {parameter}={{'flights': …}}"
        )


def check_schedulable(definition: PartitionDefinition) -> None:
    """Refuse definitions whose keys are known only at runtime."""
    if isinstance(definition, PartitionAtRuntime):
        raise InvalidDefinitionError(
            f"{definition!r} has no keys before a task runs, so no tick can make one run per key; expected"
            " PartitionByInterval, PartitionBySequence or PartitionByProduct. Add the keys in an @asset(schedule=…,"
            " partition=…), and schedule the Dag on it"
        )


def _listed(produced: ProducedPartitions) -> ProducedPartitions:
    """What is *produced*, with the combinations that are on lists now."""
    return attrs.evolve(produced, definition=as_listed(produced.definition))


@cached(_PRODUCED, key=str, lock=_LOCK)
def _produced(name: str) -> ProducedPartitions:
    """The partitions of the asset called *name* by the Dags that make it; read anew after ten seconds."""
    from airflow_partitions.engine.timetables.producers import producing_timetables

    return _agreed(name, producing_timetables([name])[name])


def look_up(upstreams: Iterable[Upstreams], producers: Mapping[str, Sequence[Timetable]]) -> None:
    """Look up who makes those of *upstreams* that are named only, of all of them at once.

    :param producers: timetables of the Dags that make some assets, all of them, by the asset's name, as just read.
    """
    from airflow_partitions.engine.timetables.producers import producing_timetables

    names = {name for each in upstreams for name in each.leaves if each.is_looked_up(name)}
    with _LOCK:
        names -= _PRODUCED.keys()
    timetables = {name: producers[name] for name in names & producers.keys()}
    others = names - timetables.keys()
    produced = _produced_of(timetables | (producing_timetables(others) if others else {}))
    with _LOCK:
        _PRODUCED.update(produced)


def remember_producers(producers: Mapping[str, Sequence[Timetable]]) -> None:
    """Take in who makes which asset, all of them by name, so that nobody has to look it up for ten seconds."""
    produced = _produced_of(producers)
    with _LOCK:
        _PRODUCED.clear()
        _PRODUCED.update(produced)


def _produced_of(producers: Mapping[str, Sequence[Timetable]]) -> dict[str, ProducedPartitions]:
    """The partitions of those assets whose producers agree, by name."""
    produced: dict[str, ProducedPartitions] = {}
    for name, timetables in producers.items():
        with suppress(InvalidDefinitionError):
            produced[name] = _agreed(name, timetables)
    return produced


def _agreed(name: str, timetables: Sequence[Timetable]) -> ProducedPartitions:
    """The partitions that Dags with those *timetables* make of the asset called *name*.

    :raises InvalidDefinitionError: if there are none, or they disagree.
    """
    produced = [timetable.produces for timetable in timetables if isinstance(timetable, PartitionTimetable)]
    if not produced:
        raise InvalidDefinitionError(
            f"no Dag makes partitions of the asset {name!r}; expected one with @asset(partition=…) or"
            f" Partitioned(…, asset={name}), or upstreams={{{name!r}: PartitionByInterval(…)}} in the Dag that waits"
        )
    if any(partitions.definition != produced[0].definition for partitions in produced):
        raise InvalidDefinitionError(
            f"the Dags that make the asset {name!r} disagree about its partitions:"
            f" {' and '.join(repr(partitions.definition) for partitions in produced)}; expected one definition"
        )
    return produced[0]
