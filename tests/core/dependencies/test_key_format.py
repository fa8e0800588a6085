"""Keys as other producers write them."""

from __future__ import annotations

import pytest

from airflow_partitions import KeyFormat, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError

HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")
DAYS = PartitionByInterval("@daily", timezone="America/Sao_Paulo", name="date")
AIRPORT_HOURS = PartitionByProduct([PartitionBySequence(["EWR", "a|b"], name="airport"), HOURS])


def test_a_repeated_hour_is_two_keys_without_an_offset() -> None:
    texts = [str(key) for key in KeyFormat(HOURS).keys("2013-11-03T01:00:00")]
    assert texts == ["2013-11-03T01:00-04:00", "2013-11-03T01:00-05:00"]
    assert {KeyFormat(HOURS).text(key) for key in texts} == {"2013-11-03T01:00:00"}
    with_offset = KeyFormat(HOURS, "%Y-%m-%dT%H:%M:%S%z")
    assert [str(key) for key in with_offset.keys("2013-11-03T01:00:00-0500")] == ["2013-11-03T01:00-05:00"]


def test_the_zone_of_the_producer_may_be_another() -> None:
    utc = KeyFormat(HOURS, timezone="UTC")
    assert utc.text("2013-11-03T01:00-05:00") == "2013-11-03T06:00:00"
    assert [str(key) for key in utc.keys("2013-11-03T06:00:00")] == ["2013-11-03T01:00-05:00"]


def test_a_day_without_midnight_has_a_date() -> None:
    assert [str(key) for key in KeyFormat(DAYS, "%Y%m%d").keys("20131020")] == ["2013-10-20"]
    assert KeyFormat(DAYS).text("2013-10-20") == "2013-10-20T01:00:00"
    assert [str(key) for key in KeyFormat(DAYS).keys("2013-10-20T01:00:00")] == ["2013-10-20"]


def test_parts_of_a_product_are_joined() -> None:
    key_format = KeyFormat(AIRPORT_HOURS, "%Y-%m-%d %H")
    (key,) = key_format.keys(r"a\|b|2013-02-08 05")
    assert str(key) == r"a\|b|2013-02-08T05:00-05:00"
    assert key_format.text(key) == r"a\|b|2013-02-08 05"
    assert len(key_format.keys("EWR|2013-11-03 01")) == 2


def test_ek11_weeks_and_quarters_are_read() -> None:
    weeks = KeyFormat(PartitionByInterval("0 0 * * 1"), "%Y-%m-%d (W%V)")
    assert list(map(str, weeks.keys("2026-02-09 (W07)"))) == ["2026-02-09"]
    assert weeks.text("2024-12-30") == "2024-12-30 (W01)"
    iso = KeyFormat(PartitionByInterval("0 0 * * 1"), "%G-W%V")
    assert list(map(str, iso.keys("2025-W01"))) == ["2024-12-30"]
    quarters = KeyFormat(PartitionByInterval("@quarterly"), "%Y-Q{quarter}")
    assert list(map(str, quarters.keys("2026-Q3"))) == ["2026-07-01"]
    assert quarters.text("2026-10-01") == "2026-Q4"
    for key_format, text in ((weeks, "2026-02-09 (W08)"), (weeks, "2026-02-10 (W07)"), (quarters, "2026-Q5")):
        with pytest.raises(InvalidKeyError):
            key_format.keys(text)
    with pytest.raises(InvalidDefinitionError, match="writes 2013-01-"):
        KeyFormat(PartitionByInterval("@daily"), "%Y-Q{quarter}")


def test_ek1_an_hour_that_the_clock_skips_is_the_one_after_it() -> None:
    (key,) = KeyFormat(HOURS, "%Y-%m-%dT%H").keys("2013-03-10T02")  # written by FanOutMapper with a DayWindow
    assert str(key) == "2013-03-10T03:00-04:00"


def test_ek1_a_moment_soon_after_a_clock_change_has_one_writing() -> None:
    key_format = KeyFormat(HOURS, "%Y-%m-%dT%H:%M:%S%z")
    (key,) = key_format.keys("2013-03-10T03:20:00-0400")
    assert str(key) == "2013-03-10T03:00-04:00"
    for text in ("2013-03-10T07:20:00+0000", "2013-03-10T03:20:30-0400", "2013-03-11T03:20:00-0400"):
        with pytest.raises(InvalidKeyError):
            key_format.keys(text)
    assert KeyFormat(AIRPORT_HOURS).texts("EWR|2013-03-11T03:00-04:00") == ("EWR|2013-03-11T03:00:00",)
    assert "EWR|2013-03-10T02:00:00" in KeyFormat(AIRPORT_HOURS).texts("EWR|2013-03-10T03:00-04:00")


@pytest.mark.parametrize("text", [
    "2013-03-10T05:30:00", "2013-3-10T05:00:00", "2012-12-31T23:00:00", "soon", "", None, 5,
    "0001-01-01T00:00:00", "9999-12-31T23:00:00", "2013-03-10T05:00:00 ",
])  # fmt: skip
def test_malformed_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidKeyError):
        KeyFormat(HOURS).keys(text)
    with pytest.raises(InvalidKeyError):
        KeyFormat(AIRPORT_HOURS).keys(f"EWR|{text}")


def test_the_nearest_texts_are_shown_as_the_producer_writes_them() -> None:
    with pytest.raises(InvalidKeyError, match="nearest: 2013-03-10T05:00:00, 2013-03-10T06:00:00") as refused:
        KeyFormat(HOURS).keys("2013-03-10T05:30:00")
    assert refused.value.nearest == ("2013-03-10T05:00:00", "2013-03-10T06:00:00")
    with pytest.raises(InvalidKeyError, match="has 1 parts; expected 2"):
        KeyFormat(AIRPORT_HOURS).keys("EWR")


@pytest.mark.parametrize(
    ("definition", "form", "message"),
    [
        (HOURS, "%Y-%m-%d", "writes 2013-01-01T01:00-05:00 as '2013-01-01', and 2013-01-01T00:00-05:00 too"),
        (HOURS, "%Q", "can't be read back"),
        (PartitionBySequence(["a"]), "%Y", "has no time dimension"),
    ],
)
def test_formats_that_can_not_work(definition: PartitionByInterval, form: str, message: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=message):
        KeyFormat(definition, form)


@pytest.mark.parametrize("key_format", [KeyFormat(HOURS), KeyFormat(AIRPORT_HOURS, "%Y-%m-%d %H", "UTC")])
def test_a_format_comes_back_from_json(key_format: KeyFormat) -> None:
    assert KeyFormat.from_json(key_format.to_json()) == key_format
