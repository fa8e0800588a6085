"""Values of other types as keys, and keys that never change."""

from __future__ import annotations

import copy
import enum
import json
import pickle
from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pendulum
import pytest

from airflow_partitions import PartitionAtRuntime, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.definitions import from_json
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError


class Region(enum.Enum):
    EU = "eu"


NEW_YORK_NIGHT = datetime(2013, 11, 3, 1, tzinfo=ZoneInfo("America/New_York"))


@pytest.mark.parametrize(("value", "own", "text"), [
    (Region.EU, "eu", "eu"), (Decimal("1.10"), Decimal("1.1"), "1.1"), (Decimal("-0.0"), Decimal(0), "0"),
    (Decimal("1E+3"), Decimal(1000), "1000"), (Decimal("0.1") ** 7, Decimal("1E-7"), "0.0000001"),
    (UUID(int=5), UUID(int=5), "00000000-0000-0000-0000-000000000005"), (time(5, 30), time(5, 30), "05:30:00"),
    (pendulum.date(2013, 1, 1), date(2013, 1, 1), "2013-01-01"), (pendulum.time(5), time(5), "05:00:00"),
    (pendulum.datetime(2013, 1, 1), datetime(2013, 1, 1, tzinfo=UTC), "2013-01-01T00:00:00+00:00"),
    (NEW_YORK_NIGHT.replace(fold=1), NEW_YORK_NIGHT.replace(fold=1), "2013-11-03T01:00:00-05:00"),
    (-0.0, 0.0, "0.0"), ((Region.EU, Decimal("1.0")), ("eu", Decimal(1)), "eu,1"),
])  # fmt: skip
def test_a5_values_of_other_types_have_one_stable_form(value: Any, own: Any, text: str) -> None:
    definition = PartitionBySequence([value, "other"])
    (key, _) = definition.segments
    assert str(key) == text
    assert [key.value] == [own] or str(key.value) == str(own)
    assert type(key.value) in (str, float, date, time, datetime, tuple, Decimal, UUID)
    copy = from_json(json.loads(json.dumps(definition.to_json())))
    assert isinstance(copy, PartitionBySequence)
    assert copy == definition
    assert list(map(repr, copy.values)) == list(map(repr, definition.values))
    assert definition.contains(value)
    runtime = PartitionAtRuntime("things")
    assert runtime.parse(str(runtime.key(value))) == runtime.key(value)


def test_ek8_keys_can_not_be_changed() -> None:
    interval = PartitionByInterval("@daily").parse("2013-01-01")
    segment = PartitionBySequence(["left"]).segments[0]
    key = PartitionByProduct([PartitionByInterval("@daily"), PartitionBySequence(["left"])]).parse("2013-01-01|left")
    for frozen in (interval, segment, key):
        before = str(frozen), hash(frozen)
        for name in ("_start", "text", "_parts", "extra"):
            with pytest.raises(AttributeError, match="is frozen"):
                setattr(frozen, name, 0)
            with pytest.raises(AttributeError, match="is frozen"):
                delattr(frozen, name)
        with suppress(TypeError):
            type(frozen).__init__(frozen, "other", "other")
        assert (str(frozen), hash(frozen)) == before
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            same = pickle.loads(pickle.dumps(frozen, protocol))
            assert (same, str(same), hash(same)) == (frozen, *before)
        assert copy.deepcopy(frozen) == frozen


@pytest.mark.parametrize("moment", [datetime(2013, 1, 1, 2), date(2013, 1, 1), "2013-01-01"])  # noqa: DTZ001
def test_ek9_only_an_instant_can_be_in_an_interval(moment: Any) -> None:
    interval = PartitionByInterval("@daily", timezone="America/New_York").parse("2013-01-01")
    with pytest.raises(InvalidDefinitionError, match="has no UTC offset; expected an aware datetime"):
        moment in interval  # noqa: B015


def test_ek11_keys_are_compared_with_keys_only() -> None:
    interval: Any = PartitionByInterval("@daily").parse("2013-01-01")
    for compare in (lt, le, gt, ge):
        with pytest.raises(TypeError, match="not supported between"):
            compare(interval, 5)


def test_ek11_a_number_that_python_does_not_print_is_refused() -> None:
    with pytest.raises(InvalidKeyError, match="more than 300 digits"):
        PartitionBySequence([10**5_000])
