"""Rules of users, from the Dag file through the database to the scheduler."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from airflow.sdk import Asset

from airflow_partitions import KeyRule, PartitionByInterval, Partitioned, Rule, Selection, register_rules
from airflow_partitions.core.dependencies import Sides
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.timetables import rules

DAYS = PartitionByInterval("@daily", start="2024-01-01")


class DaysBefore(KeyRule):
    """The day so many days before."""

    def __init__(self, days: int, slip: int = 0) -> None:
        self.days = days
        self.slip = slip

    def upstream(self, key: Key, sides: Sides, now: datetime | None) -> Selection:
        return self._moved(sides.upstream, key, -self.days)

    def downstream(self, key: Key, sides: Sides, now: datetime | None) -> Selection:
        return self._moved(sides.downstream, key, self.days + self.slip)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "days": self.days, "slip": self.slip}

    def _moved(self, definition: Any, key: Any, days: int) -> Selection:
        span = [bound + timedelta(days=days) for bound in (key.start, key.end)]
        return Selection.between(definition, *span)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "_REGISTERED", {})


def consumer_timetable(rule: Rule) -> Partitioned:
    return Partitioned(Asset("orders"), DAYS, upstreams={"orders": DAYS}, rules={"orders": rule})


def test_a_registered_rule_decides_what_belongs_together() -> None:
    register_rules(DaysBefore)
    timetable = Partitioned.deserialize(consumer_timetable(DaysBefore(7)).serialize())
    mapper: Any = timetable.get_partition_mapper(name="orders")
    assert mapper.to_downstream("2024-02-01") == ["2024-02-08"]
    assert list(mapper.to_upstream("2024-02-08")) == ["2024-02-01"]


def test_one_that_no_plugin_registers_is_refused_by_name() -> None:
    with pytest.raises(InvalidDefinitionError, match=r"DaysBefore' is not registered"):
        consumer_timetable(DaysBefore(7)).serialize()


def test_one_that_contradicts_itself_names_two_keys() -> None:
    register_rules(DaysBefore)
    with pytest.raises(
        InvalidDefinitionError, match=r"contradicts itself: .* key '2024-.*' needs the upstream key '2024-"
    ):
        consumer_timetable(DaysBefore(7, slip=1))


def test_only_rules_are_registered() -> None:
    with pytest.raises(InvalidDefinitionError, match="expected a subclass"):
        register_rules(DaysBefore(7))  # type: ignore[arg-type]
