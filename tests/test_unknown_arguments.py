"""An argument that something public does not have is told with the nearest that it has."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from inspect import Parameter, isabstract, isclass, isfunction, signature
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import airflow_partitions
from airflow_partitions import PartitionByInterval, PartitionBySequence, Window
from airflow_partitions.checks import RowCount, ValueRange
from airflow_partitions.core.calendars.duration import duration
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage import Consumer, Maintenance, Parquet, Ready, clean, compact, drop_older

PACKAGES = ("airflow_partitions", *(f"airflow_partitions.{name}" for name in ("checks", "storage", "spark", "frames")))
#: Made by the package alone, by the thousand.
MADE_BY_US = {"Interval", "PartitionKey", "ProductKey", "Segment"}


def delays(flights: pl.DataFrame) -> None: ...


def public() -> Iterator[tuple[str, Any]]:
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            exported = getattr(module, name)
            if (isclass(exported) and not issubclass(exported, Exception)) or isfunction(exported):
                yield f"{package}.{name}", exported


@pytest.mark.parametrize(("name", "exported"), list(public()))
def test_each_public_class_and_function_names_the_nearest_argument(name: str, exported: Any) -> None:
    called = exported.__init__ if isclass(exported) else exported
    if isclass(exported) and (not isfunction(called) or exported.__name__ in MADE_BY_US):
        pytest.skip("it has no arguments of its own")
    kinds = [one.kind for one in signature(called).parameters.values()]
    if Parameter.VAR_KEYWORD in kinds:
        pytest.skip("it hands arguments on, and who takes them tells")
    if isclass(exported) and "__init__" not in exported.__dict__:
        pytest.skip("its arguments are those of another class")
    if isclass(exported) and isabstract(exported):
        pytest.skip("it is made by its subclasses")
    with pytest.raises((TypeError, InvalidDefinitionError), match=r"no_such_argument.*(nearest: |it takes none)"):
        exported(no_such_argument=1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: PartitionByInterval("@daily", tz="UTC"),
            "no argument 'tz'; nearest: timezone",
        ),
        (lambda: PartitionByInterval("@daily", strat="2013-01-01"), "no argument 'strat'; nearest: start"),
        (lambda: RowCount(min=1), "RowCount() has no argument 'min'; nearest: at_least"),
        (lambda: ValueRange("a", maximum=1), "ValueRange() has no argument 'maximum'; nearest: at_most"),
        (lambda: PartitionBySequence(["a"], nmae="b"), "PartitionBySequence() has no argument 'nmae'; nearest: name"),
    ],
)
def test_messages_6_and_48_name_the_argument_that_is_meant(make: Any, words: str) -> None:
    with pytest.raises(TypeError) as error:
        make()
    assert words in str(error.value)


def test_an_error_within_is_left_as_it_is() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        PartitionByInterval()  # type: ignore[call-arg]


def test_what_is_exported_is_pickled_by_its_name_and_keeps_its_signature() -> None:
    assert pickle.loads(pickle.dumps(airflow_partitions.materialized)) is airflow_partitions.materialized
    assert "timezone" in signature(PartitionByInterval).parameters


@pytest.mark.parametrize("text", ["10m", "10 min", 600, 600.0, timedelta(minutes=10)])
def test_lengths_of_time_are_said_in_three_ways_everywhere(text: Any, tmp_path: Path) -> None:
    ten = timedelta(minutes=10)
    storage = Parquet(str(tmp_path), partition=PartitionByInterval("@daily"), partition_on={"date": "%Y-%m-%d"})
    assert duration(text) == ten
    assert Window(before=ten if isinstance(text, float | int) else text).before == ten
    assert Ready(settled=text).settled == ten
    assert Maintenance(keep_files=text, keep_snapshots=text).keep_files == ten
    assert Consumer(storage, lease=text).lease == ten
    assert airflow_partitions.PartitionSensor(task_id="a", files=storage, poke_interval=text).poke_interval == 600
    sensor = airflow_partitions.MaterializedSensor(task_id="a", asset="b", poke_interval=text, timeout=text)
    assert (sensor.poke_interval, sensor.timeout) == (600, 600)
    assert airflow_partitions.Materialize(task_id="a", asset="b", poke_interval=text, timeout=text).timeout == ten
    assert airflow_partitions.watched("landed", storage, poke_interval=text, lease=text).name == "landed"
    assert clean(storage, keep_replaced=text, keep_staged=text) == []
    assert drop_older(storage, text) == []
    assert compact(storage, settled=text) == []


@pytest.mark.parametrize("length", ["ten", -1, True, None, "1y", float("inf")])
def test_what_is_no_length_of_time_is_refused(length: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="expected a timedelta, seconds, or text such as '30min'"):
        duration(length)


def test_message_2_offers_no_fixed_offset_for_an_abbreviation() -> None:
    with pytest.raises(InvalidDefinitionError, match="unknown timezone 'CEST'") as error:
        PartitionByInterval("@daily", timezone="CEST")
    assert "EST" not in str(error.value).partition("nearest: ")[2].split(", ")


def test_message_24_names_the_nearest_input(tmp_path: Path) -> None:
    storage = Parquet(str(tmp_path), partition=PartitionByInterval("@daily"), partition_on={"date": "%Y-%m-%d"})
    options: Any = {"schedule": None, "partition": PartitionByInterval("@daily"), "inputs": {"flights": storage}}
    decorate = airflow_partitions.asset(rules={"flihgts": Window()}, **options)
    with pytest.raises(InvalidDefinitionError, match="no input or upstream of delays; 'flihgts': nearest: flights"):
        decorate(delays)


def test_message_43_names_the_nearest_type(tmp_path: Path) -> None:
    with pytest.raises(InvalidDefinitionError, match="such as string"):
        Parquet(str(tmp_path), schema={"a": "strng"})


def test_en12_a_misspelt_partition_is_named_together_with_the_missing_one() -> None:
    with pytest.raises(InvalidDefinitionError) as error:
        airflow_partitions.asset(schedule=None, partiton=PartitionByInterval("@daily"))
    assert str(error.value).startswith("partition= is missing, and 'partiton' is no argument here; nearest: partition")
