"""Rules of a user's own: in a dependency, in JSON, and checked to be their own inverse."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from airflow_partitions import Dependency, KeyRule, PartitionByInterval, PartitionBySequence, Selection
from airflow_partitions.core.dependencies import Sides, check_inverse, rule_from_json
from airflow_partitions.core.errors import InvalidDefinitionError

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01")
NOW = datetime(2013, 12, 1, tzinfo=UTC)


@attrs.frozen
class Before(KeyRule):
    """The day some days before."""

    days: int = 7

    def upstream(self, key: Any, sides: Sides, now: datetime | None) -> Iterable[Any]:
        back = timedelta(days=self.days)
        return Selection.between(sides.upstream, key.start - back, key.end - back)

    def downstream(self, key: Any, sides: Sides, now: datetime | None) -> Iterable[Any]:
        on = timedelta(days=self.days)
        return Selection.between(sides.downstream, key.start + on, key.end + on)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "days": self.days}


class OneWay(Before):
    """Forgets to go back."""

    def downstream(self, key: Any, sides: Sides, now: datetime | None) -> Iterable[Any]:
        return [key]


class Elapsed(Before):
    """Takes 24 hours for a day, and keys that it does not have."""

    def upstream(self, key: Any, sides: Sides, now: datetime | None) -> Iterable[Any]:
        return [sides.upstream.key_at(key.start.astimezone(UTC) - timedelta(days=1))]  # type: ignore[attr-defined]


class Careless(Before):
    """Gives back one key, not a list."""

    def upstream(self, key: Any, sides: Sides, now: datetime | None) -> Any:
        return str(key)


class Moving(Before):
    """Asks for the time."""

    moving = True


def test_a20_a_rule_of_ones_own() -> None:
    dependency = Dependency(DAYS, DAYS, Before())
    assert [str(key) for key in dependency.upstream("2013-11-05")] == ["2013-10-29"]
    assert [str(key) for key in dependency.downstream("2013-10-29")] == ["2013-11-05"]
    assert not dependency.upstream("2013-01-03")
    week = Selection.of(DAYS, "2013-11-05", "2013-11-06")
    assert [str(key) for key in dependency.upstream(week)] == ["2013-10-29", "2013-10-30"]
    assert dependency.fan_out() is None
    assert not dependency.needs_tick
    check_inverse(dependency, NOW)


def test_a_rule_of_ones_own_comes_back_from_json_if_it_is_registered() -> None:
    form = Before(3).to_json()
    assert form == {"rule": f"{__name__}:Before", "days": 3}
    assert rule_from_json(form, {form["rule"]: Before}) == Before(3)
    with pytest.raises(InvalidDefinitionError, match=r"Before' is not registered, .*none is.*register_rules"):
        rule_from_json(form)
    with pytest.raises(InvalidDefinitionError, match="registered are: other:Rule"):
        rule_from_json(form, {"other:Rule": Before})
    with pytest.raises(InvalidDefinitionError, match=r"is not the JSON form of .*weeks"):
        rule_from_json({"rule": form["rule"], "weeks": 1}, {form["rule"]: Before})


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (OneWay(), r"downstream key '2013-11-27' needs the upstream key '2013-11-20', but downstream\(\)"),
        (Elapsed(), "has no answer for the key '2013-01-01'"),
        (Careless(), "gave '2013-01-01' for '2013-01-01'; expected a list of keys"),
    ],
)
def test_a_rule_that_contradicts_itself_is_refused(rule: KeyRule, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        check_inverse(Dependency(DAYS, DAYS, rule), NOW)


def test_a_moving_rule_needs_the_time() -> None:
    with pytest.raises(InvalidDefinitionError, match="depends on the time at which it is asked; expected now="):
        Dependency(DAYS, DAYS, Moving()).upstream("2013-11-05")
    assert len(Dependency(DAYS, DAYS, Moving()).upstream("2013-11-05", now=NOW)) == 1


def test_a_rule_that_answers_with_keys_of_something_else_is_refused() -> None:
    class Elsewhere(Before):
        def upstream(self, key: Any, sides: Sides, now: datetime | None) -> Iterable[Any]:
            return Selection.of(PartitionBySequence(["a"]), "a")

    with pytest.raises(InvalidDefinitionError, match="gave keys of PartitionBySequence"):
        Dependency(DAYS, DAYS, Elsewhere()).upstream("2013-11-05")
