"""The producer's partitions in an asset's extra."""

from __future__ import annotations

import json

import pytest
from airflow.sdk import Asset

from airflow_partitions import PartitionByInterval
from airflow_partitions.engine.timetables.asset_extra import (
    FIELD,
    AssetFrames,
    ProducedPartitions,
    frames_of,
    read_extra,
    write_extra,
)
from airflow_partitions.frames.frame_type import FrameType

DAYS = PartitionByInterval("@daily", start="2013-01-01")


def test_partitions_survive_an_assets_extra() -> None:
    asset = Asset("days", extra={"owner": "me"})
    assert read_extra(asset.extra) is None
    write_extra(asset, ProducedPartitions(DAYS, "@daily"))
    assert asset.extra["owner"] == "me"
    assert read_extra(json.loads(json.dumps(asset.extra))) == ProducedPartitions(DAYS, "@daily")


def test_partitions_of_another_release_are_left_aside(caplog: pytest.LogCaptureFixture) -> None:
    form = ProducedPartitions(DAYS).to_json() | {"version": 2}
    assert read_extra({FIELD: form}) is None
    assert "has version 2; expected 1" in caplog.text


def test_f5_what_is_stored_and_read_survives_an_assets_extra() -> None:
    asset, stored = Asset("days"), FrameType("/lake/days", {"delay": "double", "note": None}, "parquet")
    frames = AssetFrames(stored, {"hours": FrameType("/lake/hours", {"delay": None}, "csv")})
    assert frames_of(asset.extra) == AssetFrames()
    write_extra(asset, ProducedPartitions(DAYS))
    assert frames_of(asset.extra) == AssetFrames()
    write_extra(asset, ProducedPartitions(DAYS), frames)
    assert frames_of(json.loads(json.dumps(asset.extra))) == frames
    asset.extra[FIELD]["version"] = 2
    assert frames_of(asset.extra) == AssetFrames()
