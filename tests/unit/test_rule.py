"""Rules: which intervals they mean, and what they refuse."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from airflow_partitions import Dependency, Lookback, PartitionByInterval, PartitionBySequence, Window
from airflow_partitions.dependencies import Overlap, rule_from_json
from airflow_partitions.errors import InvalidDefinitionError

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")


def test_a20_a_rolling_three_days_window_is_cut_at_the_calendars_start() -> None:
    rolling = Dependency(downstream=DAYS, upstream=DAYS, rule=Lookback(2))
    assert [str(key) for key in rolling.upstream("2013-03-10")] == ["2013-03-08", "2013-03-09", "2013-03-10"]
    assert [str(key) for key in rolling.upstream("2013-01-01")] == ["2013-01-01"]
    assert [str(key) for key in rolling.downstream("2013-03-10")] == ["2013-03-10", "2013-03-11", "2013-03-12"]


def test_a20_lookback_counts_upstream_intervals() -> None:
    hours = Dependency(downstream=DAYS, upstream=HOURS, rule=Lookback(1)).upstream("2013-03-10")
    assert [str(key) for key in hours][:2] == ["2013-03-09T23:00-05:00", "2013-03-10T00:00-05:00"]
    assert len(hours) == 24


def test_a20_a_window_is_elapsed_time() -> None:
    late = Dependency(downstream=DAYS, upstream=HOURS, rule=Window(after=timedelta(hours=2)))
    assert len(late.upstream("2013-11-03")) == 27
    assert [str(key) for key in late.downstream("2013-11-04T01:00-05:00")] == ["2013-11-03", "2013-11-04"]


@pytest.mark.parametrize("rule", [Overlap(), Lookback(3), Window(timedelta(hours=1), timedelta(minutes=5))])
def test_rules_come_back_from_json(rule: Any) -> None:
    assert rule_from_json(rule.to_json()) == rule


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Lookback(0), "Lookback(0)"),
        (lambda: Lookback(True), "Lookback(True)"),
        (lambda: Window(before=timedelta(-1)), "not negative"),
        (lambda: Window(after=5), "after=5"),  # type: ignore[arg-type]
        (lambda: Dependency(PartitionBySequence(["a"]), PartitionBySequence(["a"]), Lookback(1)), "time on both sides"),
        (lambda: rule_from_json({"rule": "never"}), "never"),
    ],
)
def test_rules_that_make_no_sense_are_refused(make: Any, said: str) -> None:
    with pytest.raises(InvalidDefinitionError) as refused:
        make()
    assert said in str(refused.value)
