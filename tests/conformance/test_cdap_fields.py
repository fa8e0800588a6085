"""CDAP's PartitionedFileSet, row C1: fields whose values nobody lists beforehand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from airflow_partitions import PartitionAtRuntime, PartitionBySequence
from airflow_partitions.core.errors import (
    InvalidKeyError,
    LayoutError,
)
from airflow_partitions.storage import Column, Files, Parquet, field
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.filters.arguments import input_filter, output_key

OPEN = PartitionAtRuntime("results")
SEASONS = PartitionBySequence([1980, 1981], name="season")


def open_results(root: str, **options: Any) -> Files:
    """Any league, any season: nobody lists them beforehand."""
    columns = {"league": "{results[0]}", "season": Column("{results[1]}", "int")}
    return Parquet(root, partition=OPEN, partition_on=columns, schema={"winner": "string"}, **options)


def test_c1_fields_with_open_values(root: str) -> None:
    files = open_results(root)
    frame = pa.table({"winner": ["Bears", "Jets"]})
    files.save({("nfl", 1982): frame, ("nba's/x", -3): frame, ("1982", 1982): frame})
    assert sorted(partition.key.value for partition in files.list()) == [
        ("1982", 1982),
        ("nba's/x", -3),
        ("nfl", 1982),
    ]
    assert [partition.directory for partition in files.list(("nfl", 1982))] == ["league=nfl/season=1982"]
    assert files.read(("1982", 1982), "arrow").to_pylist()[0] == {"winner": "Bears", "league": "1982", "season": 1982}
    for key in (("nfl", 1982), {"season": 1982, "league": "nfl"}, str(OPEN.key(("nfl", 1982)))):
        season = files.get(key)
        assert season is not None
        assert season.key == OPEN.key(("nfl", 1982))
        assert OPEN.parse(str(season.key)) == season.key
    assert files.get(("nfl", 1983)) is None
    assert Files.from_json(files.to_json()) == files


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"league": "nfl"}, r"expected a value for each of \['league', 'season'\]"),
        ({"league": "nfl", "season": 1982, "team": "Jets"}, "expected a value for each of"),
        (("nfl",), r"has no value for each field; expected \(league: string, season: int\)"),
        ("nfl", "has no value for each field"),
        (("nfl", "1982"), r"season is '1982'; expected \(league: string, season: int\)"),
        ((1982, "nfl"), "league is 1982"),
        (("nfl", True), "bool"),
    ],
)
def test_c1_a_wrong_or_missing_field(root: str, key: Any, message: str) -> None:
    with pytest.raises(InvalidKeyError, match=message):
        open_results(root).get(key)


def test_c1_conditions_on_open_fields(root: str) -> None:
    files = open_results(root)
    frame = pa.table({"winner": ["Bears"]})
    files.save({(league, season): frame for league in ("nfl", "nba") for season in (979, 1980, 1989, 1990)})
    eighties = (field("league") == "nfl") & field("season").between(1980, 1990)
    assert [key.value for key in files.get_many(eighties)] == [("nfl", 1980), ("nfl", 1989)]
    assert [key.value for key in files.get_many(field("season") < 1000)] == [("nba", 979), ("nfl", 979)]
    assert len(files.read((field("season") >= 1989) & (field("winner") == "Bears"), "arrow")) == 4
    arguments = {
        "dataset.results.input.partition.filter.league.value": "nba",
        "dataset.results.input.partition.filter.season.lower": "1980",
        "dataset.results.output.partition.key.league": "nfl",
        "dataset.results.output.partition.key.season": "1995",
    }
    assert len(files.get_many(input_filter(arguments, "results"))) == 3
    assert output_key(arguments, "results", files.layout) == OPEN.key(("nfl", 1995))
    del arguments["dataset.results.output.partition.key.season"]
    with pytest.raises(InvalidKeyError, match="expected a value for each of"):
        output_key(arguments, "results", files.layout)


def test_c1_folders_of_others_with_open_fields(root: str) -> None:
    files = open_results(root, ownership="read-only")
    for folder in ("league=nfl/season=1982", "league=nfl/season=01983"):
        place = at(f"{root}/{folder}")
        place.mkdir(parents=True, exist_ok=True)
        with (place / "0.parquet").open("wb") as out:
            parquet.write_table(pa.table({"winner": ["Bears"]}), out)
    assert files.read(("nfl", 1982), "arrow").num_rows == 1
    with pytest.raises(LayoutError, match=r"'league=nfl/season=01983' is not the directory of a partition"):
        files.read(as_="arrow")


def test_c1_layouts_of_open_fields() -> None:
    with pytest.raises(LayoutError, match=r"expected each of \{results\[0\]\}, \{results\[1\]\} once"):
        Parquet("/lake", partition=OPEN, partition_on={"a": "{results[0]}", "b": "{results[2]}"})
    with pytest.raises(LayoutError, match="expected each of"):
        Parquet("/lake", partition=OPEN, partition_on={"a": "{results[0]}", "b": "{results}"})
    with pytest.raises(LayoutError, match="no keys that are tuples"):
        Parquet("/lake", partition=SEASONS, partition_on={"season": "{season[0]}"})
