"""Instants, and texts of them."""

from __future__ import annotations

from datetime import datetime

import pytest

from airflow_partitions.core.calendars.instants import UTC, from_iso


@pytest.mark.parametrize("text", ["2013-11-03T01:00Z", "2013-11-03T01:00+00:00", "2013-11-02T21:00:00.000000-04:00"])
def test_an_instant_has_more_than_one_text(text: str) -> None:
    assert from_iso(text) == datetime(2013, 11, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "Z", "2013-11-03Z", "2013-11-03T01:00+00:00Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="isoformat"):
        from_iso(text)
