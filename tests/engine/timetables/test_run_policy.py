"""When a partition is made, and made again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.calendars.duration import duration
from airflow_partitions.core.definitions.due_time import DueTime
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.run_policy import AtLeast, RunPolicy, UpstreamStatus, Within

NOW = datetime(2013, 3, 12, 12, tzinfo=UTC)
END = datetime(2013, 3, 11, tzinfo=UTC)


def ago(**length: float) -> datetime:
    return NOW - timedelta(**length)


def there(newest: datetime, completed: datetime | None = None) -> UpstreamStatus:
    return UpstreamStatus(complete=True, enough=True, newest=newest, completed=completed or newest)


PARTLY = UpstreamStatus(complete=False, enough=True, newest=ago(hours=1))
NOTHING = UpstreamStatus(complete=False, enough=False)


def test_the_first_time_all_must_be_there_and_nothing_in_the_making() -> None:
    run_policy = RunPolicy()
    assert run_policy.fires(there(ago(hours=1)), None, END, NOW)
    assert not run_policy.fires(NOTHING, None, END, NOW)
    assert not run_policy.fires(UpstreamStatus(True, True, True, ago(hours=1), ago(hours=1)), None, END, NOW)
    assert not run_policy.fires(there(ago(hours=1)), None, END, NOW, queued=True)


def test_a_run_that_began_later_has_read_it_all() -> None:
    run_policy = RunPolicy()
    assert not run_policy.fires(there(ago(hours=2)), ago(hours=1), END, NOW)
    assert run_policy.idle(there(ago(hours=2)), ago(hours=1), END, NOW)
    assert run_policy.fires(there(ago(hours=1), ago(hours=9)), ago(hours=2), END, NOW)
    assert not run_policy.idle(there(ago(hours=1), ago(hours=9)), ago(hours=2), END, NOW)


def test_at_least_so_many_begin_once_and_all_once_more() -> None:
    run_policy = RunPolicy(wait=AtLeast(20))
    assert [run_policy.enough(n, 24) for n in (19, 20, 24)] == [False, True, True]
    assert [run_policy.enough(n, 3) for n in (2, 3)] == [False, True]
    assert run_policy.fires(PARTLY, None, END, NOW)
    assert not run_policy.fires(PARTLY, ago(hours=2), END, NOW)
    assert not run_policy.idle(PARTLY, ago(hours=2), END, NOW)
    assert run_policy.fires(there(ago(minutes=5)), ago(hours=2), END, NOW)
    assert RunPolicy(AtLeast(20), rerun="never").fires(there(ago(minutes=5)), ago(hours=2), END, NOW)
    assert not RunPolicy(AtLeast(20), rerun="never").fires(there(ago(minutes=5), ago(hours=9)), ago(hours=2), END, NOW)


def test_never_means_once() -> None:
    run_policy = RunPolicy(rerun="never")
    assert run_policy.fires(there(ago(hours=1)), None, END, NOW)
    assert not run_policy.fires(there(ago(hours=1), ago(hours=9)), ago(hours=2), END, NOW)
    assert run_policy.idle(there(ago(hours=1), ago(hours=9)), ago(hours=2), END, NOW)


def test_within_an_age_and_once_it_has_settled() -> None:
    young, old = RunPolicy(rerun=Within("2d", settle="30min")), RunPolicy(rerun=Within("1d", settle="30min"))
    changed, unsettled = there(ago(minutes=31), ago(hours=9)), there(ago(minutes=29), ago(hours=9))
    assert young.fires(changed, ago(hours=2), END, NOW)
    assert not young.fires(unsettled, ago(hours=2), END, NOW)
    assert not young.idle(unsettled, ago(hours=2), END, NOW)
    assert young.fires(unsettled, None, END, NOW)
    assert not old.fires(changed, ago(hours=2), END, NOW)
    assert old.idle(changed, ago(hours=2), END, NOW)
    assert RunPolicy(rerun=Within("1d")).fires(changed, ago(hours=2), None, NOW)


def test_both_and_either() -> None:
    early, late = there(ago(hours=9)), there(ago(hours=1))
    assert early.and_(late).completed == ago(hours=1)
    assert early.or_(late).completed == ago(hours=9)
    assert early.or_(late).newest == ago(hours=1)
    assert not early.and_(NOTHING).complete
    assert early.or_(NOTHING).complete
    making = UpstreamStatus(True, True, True, ago(hours=1), ago(hours=1))
    assert early.and_(making).blocked
    assert early.or_(making) == early
    assert making.or_(making).blocked
    assert NOTHING.or_(making).blocked


def test_what_was_whole_once_stays_so_while_a_part_of_it_is_made_again() -> None:
    again = UpstreamStatus(True, True, True, ago(hours=9), ago(hours=9))
    run_policy = RunPolicy(AtLeast(2), rerun="never")
    assert not run_policy.fires(again.or_(there(ago(hours=1))), ago(hours=5), END, NOW)
    assert not run_policy.fires(again.or_(PARTLY), ago(hours=10), END, NOW)


def test_what_fires_once_it_has_settled() -> None:
    run_policy, unsettled = RunPolicy(rerun=Within("2d", settle="30min")), there(ago(minutes=29), ago(hours=9))
    assert run_policy.settles(unsettled, ago(hours=2), END, NOW)
    assert not run_policy.settles(unsettled, ago(minutes=1), END, NOW)
    assert not RunPolicy(rerun=Within("36h", settle="30min")).settles(unsettled, ago(hours=2), END, NOW)


@given(st.booleans(), st.integers(1, 99), st.sampled_from(["always", "never", Within("7d"), Within("1w", settle="5s")]))
def test_json_round_trip(waits: bool, n: int, rerun: str | Within) -> None:
    run_policy = RunPolicy(AtLeast(n) if waits else None, rerun, timedelta(minutes=n))
    assert RunPolicy.from_json(run_policy.to_json()) == run_policy


@given(
    st.builds(UpstreamStatus, st.booleans(), st.booleans(), st.booleans(), st.just(ago(hours=1)), st.none()),
    st.sampled_from([None, ago(hours=2), ago(minutes=1)]),
    st.booleans(),
    st.sampled_from(
        [RunPolicy(), RunPolicy(AtLeast(2)), RunPolicy(rerun="never"), RunPolicy(rerun=Within("1h", settle="2h"))]
    ),
)
def test_what_fires_is_not_idle(
    status: UpstreamStatus, start: datetime | None, queued: bool, run_policy: RunPolicy
) -> None:
    full = there(ago(hours=1)) if status.complete else status
    if run_policy.fires(full, start, END, NOW, queued=queued):
        assert not run_policy.idle(full, start, END, NOW, queued=queued)


def test_lengths_of_time() -> None:
    assert [duration(length) for length in ("30s", 90, "30min", "30m", "12h", "7d", "2w")] == [
        timedelta(seconds=30), timedelta(seconds=90), timedelta(minutes=30), timedelta(minutes=30),
        timedelta(hours=12), timedelta(days=7), timedelta(weeks=2),
    ]  # fmt: skip
    for wrong in ("7", "7 years", "", "-3d", timedelta(seconds=-1), -7, True):
        with pytest.raises(InvalidDefinitionError, match="'30min', '12h' or '7d'"):
            duration(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make", [lambda: AtLeast(0), lambda: AtLeast(True), lambda: RunPolicy(wait=3), lambda: RunPolicy(rerun="sometimes")]
)
def test_nonsense_is_refused(make: object) -> None:
    with pytest.raises(InvalidDefinitionError, match="expected"):
        make()  # type: ignore[operator]


def test_the_time_before_which_nothing_begins() -> None:
    night = next(PartitionByInterval("@daily", timezone="America/New_York").keys("2013-11-03", "2013-11-04"))
    texts = {at: RunPolicy(at=at).begins(night) for at in ("06:00", "2h", 90, timedelta(days=1))}
    assert {at: begins and begins.astimezone(UTC).isoformat() for at, begins in texts.items()} == {
        "06:00": "2013-11-04T11:00:00+00:00",
        "2h": "2013-11-04T07:00:00+00:00",
        90: "2013-11-04T05:01:30+00:00",
        timedelta(days=1): "2013-11-05T05:00:00+00:00",
    }
    assert RunPolicy(at=DueTime("06:00", days=2)).begins(night) == datetime(2013, 11, 6, 11, tzinfo=UTC)
    assert RunPolicy().begins(night) is RunPolicy(at="06:00").begins(None) is None
    for at in ("06:00", "2h", DueTime("06:00", days=2)):
        run_policy = RunPolicy(at=at)
        assert RunPolicy.from_json(run_policy.to_json()) == run_policy
    for wrong in ("25:00", "noon", "06:00+01:00", -1, ["06:00"]):
        with pytest.raises(InvalidDefinitionError, match="expected a time of day such as '06:00', or how long after"):
            RunPolicy(at=wrong)
