"""What an asset-driven Dag waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any

import attrs
from airflow.partition_mappers.base import PartitionMapper
from airflow.partition_mappers.wait_policy import PartitionSatisfaction, WaitPolicy
from airflow.sdk.definitions.asset import BaseAsset
from airflow.serialization.decoders import decode_asset_like
from airflow.serialization.definitions.assets import (
    SerializedAsset,
    SerializedAssetAll,
    SerializedAssetAny,
    SerializedAssetBase,
    SerializedAssetBooleanCondition,
    SerializedAssetNameRef,
)
from airflow.serialization.encoders import encode_asset_like, ensure_serialized_asset

from airflow_partitions.calendars.instants import utc
from airflow_partitions.definitions import PartitionAtRuntime, PartitionDefinition, from_json
from airflow_partitions.dependencies import Dependency, Overlap, Rule, Selection, rule_from_json
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.timetables.hint import published
from airflow_partitions.timetables.partition_date import PartitionDates

#: Airflow drops an event that makes more downstream keys than its cap; ours is beyond every calendar that makes sense.
MAX_DOWNSTREAM_KEYS = 1_000_000


@attrs.frozen
class Upstream:
    """An upstream asset, what partitions it has, and how the Dag's depend on them.

    :ivar uri: empty where the Dag names the asset only.
    """

    name: str
    uri: str
    definition: PartitionDefinition
    rule: Rule = attrs.field(factory=Overlap)

    def to_json(self) -> dict[str, Any]:
        """JSON form, in a stable order: Airflow compares it to tell whether a mapper changed."""
        definition, rule = self.definition.to_json(), self.rule.to_json()
        return {"name": self.name, "uri": self.uri, "definition": definition, "rule": rule}


Leaf = SerializedAsset | SerializedAssetNameRef


class AnyEvent(SerializedAssetAll):
    """Lets an event of any upstream ask for an evaluation; the evaluation itself looks at the whole *condition*.

    Airflow takes assets without an event since the last run for missing, so that ``A & B`` would wait for both again
    after a re-run of A alone.
    """

    agg_func = any

    def __init__(self, condition: SerializedAssetBase) -> None:
        super().__init__(list(leaves(condition)))
        self.condition = condition

    def as_expression(self) -> Any:
        """The condition as it is shown."""
        return self.condition.as_expression()


class Upstreams:
    """The upstream assets of a Dag, the condition on them, and how their partitions belong to the Dag's own.

    :param downstream: what partitions the Dag makes.
    :param condition: an asset, or assets joined by ``&`` and ``|``.
    :param known: definitions of upstreams by asset name, for those that don't publish one.
    :param rules: what replaces overlap, by asset name.
    :raises InvalidDefinitionError: for an upstream without a definition, or one that can never meet *downstream*.
    """

    def __init__(
        self,
        downstream: PartitionDefinition,
        condition: SerializedAssetBase,
        known: Mapping[str, PartitionDefinition],
        rules: Mapping[str, Rule],
    ) -> None:
        self.downstream = downstream
        self.condition = condition
        self.members = tuple(self._member(asset, known, rules) for asset in leaves(condition))
        if unknown := set(rules) - {member.name for member in self.members}:
            names = ", ".join(member.name for member in self.members)
            raise InvalidDefinitionError(f"rules for {', '.join(sorted(unknown))}; the upstream assets are: {names}")
        self._dates = PartitionDates(downstream)

    @cached_property
    def mappers(self) -> Mapping[str, DependencyMapper]:
        """A mapper for each upstream, by name and by URI."""
        found = {}
        for member in self.members:
            mapper = DependencyMapper(self, member)
            found[member.name] = mapper
            if member.uri:
                found[member.uri] = mapper
        return found

    def dependency(self, member: Upstream) -> Dependency:
        """How the Dag's partitions depend on those of one upstream."""
        return Dependency(downstream=self.downstream, upstream=member.definition, rule=member.rule)

    def partition_date(self, text: str) -> Any:
        """Partition date of one of the Dag's own keys."""
        date = self._dates.of(self.downstream.parse(text))
        return None if date is None else utc(date)

    def satisfied(self, text: str) -> bool:
        """Whether the condition holds for the Dag's key *text*, over all that was ever materialised, and nothing that
        it needs is being made right now."""
        return self._holds(self.condition, text)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :func:`read_upstreams`."""
        return {
            "assets": encode_asset_like(self.condition),
            "definitions": {member.name: member.definition.to_json() for member in self.members},
            "rules": {member.name: member.rule.to_json() for member in self.members},
        }

    def _holds(self, condition: SerializedAssetBase, text: str) -> bool:
        if isinstance(condition, SerializedAssetAll):
            return all(self._holds(part, text) for part in condition.objects)
        if isinstance(condition, SerializedAssetAny):
            return any(self._holds(part, text) for part in condition.objects)
        (leaf,) = leaves(condition)
        member = next(member for member in self.members if member.name == leaf.name)
        return self._there(member, self.dependency(member).upstream(text))

    def _there(self, member: Upstream, needed: Selection) -> bool:
        from airflow_partitions.history import in_flight, materialised

        for text in in_flight(member.name):
            try:
                if member.definition.parse(text) in needed:
                    return False
            except InvalidKeyError:  # a run of an older definition makes nothing that is needed now
                continue
        texts = {str(key) for key in needed}
        return bool(texts) and materialised(member.name, texts) >= texts

    def _member(self, asset: Leaf, known: Mapping[str, PartitionDefinition], rules: Mapping[str, Rule]) -> Upstream:
        uri, hint = ("", None) if isinstance(asset, SerializedAssetNameRef) else (asset.uri, published(asset.extra))
        definition = known.get(asset.name) or hint
        if definition is None:
            raise InvalidDefinitionError(
                f"upstream asset {asset.name!r} has no partitions to wait for; schedule on an asset made"
                f" by @asset(partition=…), or say what it has: upstreams={{{asset.name!r}: PartitionByInterval(…)}}"
            )
        member = Upstream(asset.name, uri, definition, rules.get(asset.name, Overlap()))
        self.dependency(member)  # refuses what can never meet
        if definition.time is None and self.downstream.time is not None:
            raise InvalidDefinitionError(
                f"upstream asset {asset.name!r} has no time dimension: its events can't say which intervals of"
                f" {self.downstream!r} to make; give it one"
            )
        return member


class Needed(AbstractSet[str]):
    """Texts of the upstream keys that one downstream key needs, and the question whether they are there."""

    def __init__(self, upstreams: Upstreams, text: str, selection: Selection) -> None:
        self.upstreams = upstreams
        self.text = text
        self._selection = selection

    def __contains__(self, text: object) -> bool:
        try:
            return isinstance(text, str) and self._selection.definition.parse(text) in self._selection
        except InvalidKeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return map(str, self._selection)

    def __len__(self) -> int:
        return len(self._selection)


class OverHistory(WaitPolicy):
    """Fires when all that is needed has been materialised at any time and nothing of it is being made."""

    def is_satisfied_by_keys(self, *, matched: AbstractSet[str], expected: AbstractSet[str]) -> PartitionSatisfaction:
        """Asks the whole condition, whatever keys the pending row has *matched*."""
        satisfied = isinstance(expected, Needed) and expected.upstreams.satisfied(expected.text)
        return PartitionSatisfaction(satisfied=satisfied, unreachable=False, unreachable_reason=None)


class DependencyMapper(PartitionMapper):
    """Airflow's mapper for one upstream of a Dag, derived from the definitions of both sides."""

    is_rollup = True

    def __init__(self, upstreams: Upstreams, member: Upstream) -> None:
        super().__init__(max_downstream_keys=MAX_DOWNSTREAM_KEYS)
        self.upstreams = upstreams
        self.member = member
        self.wait_policy = OverHistory()

    def to_downstream(self, key: str) -> list[str]:
        """The Dag's keys that need the upstream *key*."""
        return [str(found) for found in self.upstreams.dependency(self.member).downstream(key)]

    def to_upstream(self, downstream_key: str) -> Needed:
        """The upstream keys that the Dag's key needs."""
        return Needed(self.upstreams, downstream_key, self.upstreams.dependency(self.member).upstream(downstream_key))

    def to_partition_date(self, downstream_key: str) -> Any:
        """Partition date of the Dag's key."""
        return self.upstreams.partition_date(downstream_key)

    def serialize(self) -> dict[str, Any]:
        """What Airflow compares to tell whether the mapper changed."""
        return {
            "downstream": self.upstreams.downstream.to_json(),
            "condition": self.upstreams.condition.as_expression(),
            "upstream": self.member.to_json(),
        }


def condition_of(schedule: Any) -> SerializedAssetBase | None:
    """The condition on assets that *schedule* is; ``None`` for a time schedule. A list of assets wants all of them."""
    if isinstance(schedule, list | tuple) and schedule and all(isinstance(part, BaseAsset) for part in schedule):
        return SerializedAssetAll([ensure_serialized_asset(part) for part in schedule])
    if isinstance(schedule, BaseAsset | SerializedAssetBase):
        return ensure_serialized_asset(schedule)
    return None


def read_upstreams(data: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for a timetable that :meth:`Upstreams.to_json` was made of."""
    return {
        "schedule": decode_asset_like(data["assets"]),
        "upstreams": {name: from_json(form) for name, form in data["definitions"].items()},
        "rules": {name: rule_from_json(form) for name, form in data["rules"].items()},
    }


def check_schedulable(definition: PartitionDefinition) -> None:
    """Refuse definitions whose runs can't be known before they are made."""
    if isinstance(definition, PartitionAtRuntime):
        raise InvalidDefinitionError(
            f"{definition!r} has no keys before a task runs, so no tick can make one run per key;"
            " expected PartitionByInterval, PartitionBySequence or PartitionByProduct"
        )


def leaves(condition: SerializedAssetBase) -> list[Leaf]:
    """The assets of a condition, in order, or references to them by name."""
    if isinstance(condition, SerializedAssetBooleanCondition):
        return [leaf for part in condition.objects for leaf in leaves(part)]
    if isinstance(condition, SerializedAsset | SerializedAssetNameRef):
        return [condition]
    raise InvalidDefinitionError(
        f"{condition!r} can't be waited for by partition; schedule on the asset, or on Asset.ref(name=…)"
    )
