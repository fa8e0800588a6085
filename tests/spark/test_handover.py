from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from airflow_partitions import Partition, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import MissingInputError, ResultError
from airflow_partitions.frames.input import Input
from airflow_partitions.spark.handover import LONGEST, PROPERTY, Handover, pack, receive, received
from airflow_partitions.spark.shipping import Shipped
from airflow_partitions.storage import Parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_round_trip(lake: Any) -> None:
    shipped = Shipped("f", "def f(flights):\n    return '${x}', 'é', \"'\"\n", ("flights",))
    handover = lake.handover(function=shipped, strict=True)
    text = handover.to_text()
    assert Handover.from_text(text) == handover
    assert text.isascii()
    assert "$" not in text
    assert "\n" not in text


def test_the_selection_is_compressed(lake: Any) -> None:
    one, many = lake.handover("2013-01-02|EWR"), lake.handover("2013-01-02|EWR", number=2)
    everything = Input("flights", lake.flights, many.inputs["flights"].selection)
    assert len(one.inputs["flights"].folders) == 24
    assert len(json.dumps(everything.to_json())) < 700


def test_inputs_without_partitions_are_whole(lake: Any) -> None:
    source = Input.needed_by(Partition(lake.delays.partition, "2013-01-02|EWR"), "airports", Parquet(str(lake.root)))
    assert source.selection is None
    assert list(source.folders) == [str(lake.root)]
    assert Input.from_json("airports", source.to_json()) == source


def test_a_clock_change_day_needs_25_hours(lake: Any) -> None:
    partition = Partition(lake.delays.partition, "2013-11-03|EWR")
    assert len(Input.needed_by(partition, "flights", lake.flights).folders) == 25


def test_missing_partitions_are_named(lake: Any) -> None:
    partition = Partition(lake.delays.partition, "2013-01-03|EWR")
    source = Input.needed_by(partition, "flights", lake.flights)
    with pytest.raises(
        MissingInputError, match=r"24 of 24 partitions are not stored .* '2013-01-03T00:00-05:00', .* …"
    ):
        source.identities()


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "x" * 100])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ResultError, match="is not a handover"):
        Handover.from_text(text)


def test_another_version_is_refused() -> None:
    with pytest.raises(ResultError, match="has version 99, this driver reads 1"):
        Handover.from_text('{"version": 99}')


def large(lake: Any) -> Handover:
    names = [f"customer-{number:032d}" for number in range(2000)]
    customers = PartitionBySequence(names, name="customer")
    definition = PartitionByProduct([lake.delays.partition.time, customers])
    partition = Partition(definition, f"2013-01-02|{names[7]}")
    output = Parquet(str(lake.root / "large")).of(definition)
    handover: Handover = lake.handover(partition=partition, output=output)
    return handover


def test_small_ones_travel_in_the_property(lake: Any) -> None:
    assert Handover.from_text(pack([lake.handover()])).asset == "delays"


def test_large_ones_lie_in_the_staging_place(lake: Any) -> None:
    handover = large(lake)
    value = pack([handover])
    file = Path(value.partition("@")[0])
    assert file.parent == handover.staging.folder
    assert len(file.read_text()) > LONGEST > len(value)
    assert Handover.from_text(file.read_text()) == handover


@pytest.mark.spark
def test_received_from_property_and_file(lake: Any, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    handover = large(lake)
    file, _, digest = pack([handover]).partition("@")

    def got(digest: str = digest, file: str = file) -> Handover:
        value = f"{file}@{digest}"
        monkeypatch.setattr(type(spark.sparkContext), "getConf", lambda _: {PROPERTY: value})
        return receive(spark)

    assert got() == handover
    with pytest.raises(ResultError, match="has SHA-256"):
        got(digest="0" * 64)
    with pytest.raises(ResultError, match="expected storage that the Airflow task and the driver share"):
        got(file="/elsewhere/handover.json")
    monkeypatch.setattr(type(spark.sparkContext), "getConf", lambda _: {PROPERTY: "handover.json"})
    with pytest.raises(
        ResultError, match=r"'handover\.json' is not a handover; expected the JSON of one, or FILE@SHA-256"
    ):
        receive(spark)


def test_no_shell_takes_a_part_of_it_for_its_own(lake: Any) -> None:
    output = Parquet(str(lake.root / "a 'lake' \"of\" ours & $more")).of(lake.delays.partition)
    value = pack([lake.handover(output=output)], longest=0)
    assert shlex.split(value, posix=True) == [value]
    assert shlex.quote(value) == value


@pytest.mark.spark
def test_of_several_each_is_read_when_its_turn_comes(
    lake: Any, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    handovers = [lake.handover(key) for key in ("2013-01-01|EWR", "2013-01-01|JFK", "2013-01-02|EWR")]
    value = pack(handovers)
    monkeypatch.setattr(type(spark.sparkContext), "getConf", lambda _: {PROPERTY: value})
    first, second, third = received(spark)
    assert first() == handovers[0]
    handovers[0].staging.remove()  # published
    handovers[1].staging.remove()  # not wanted any more
    assert second() is None
    assert third() == handovers[2]


@pytest.mark.spark
def test_without_a_handover(spark: SparkSession) -> None:
    with pytest.raises(ResultError, match="expected this program to be started by a spark_asset"):
        receive(spark)
