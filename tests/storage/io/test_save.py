"""What is saved can be read back; what can't is refused before anything is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions import PartitionAtRuntime, PartitionBySequence
from airflow_partitions.core.errors import InvalidKeyError, LayoutError, ResultError, SchemaError, WriterError
from airflow_partitions.storage import Column, Csv, FilePerKey, Files, Json, Orc, Parquet, field

LETTERS = PartitionBySequence(["a", "b", "c"], name="letter")
FRAMES = ["arrow", "pandas", "polars"]


@pytest.fixture(params=["folders", "log"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Parquet:
    """A dataset that declares no schema."""
    log = str(tmp_path / "log") if request.param == "log" else None
    return Parquet(str(tmp_path / "lake"), partition=LETTERS, log=log)


def columns_of(files: Files, as_: str = "arrow", **options: Any) -> dict[str, list[Any]]:
    frame = files.read(as_=as_, **options)
    table = pa.Table.from_pandas(frame) if as_ == "pandas" else frame.to_arrow() if as_ == "polars" else frame
    return dict(table.to_pydict())


def file_names(files: Files) -> list[str]:
    """The partitions that can be seen."""
    return [str(partition.key) for partition in files.list()]


@pytest.mark.parametrize("format_", [Parquet, Orc, Json])
def test_es4_nulls_of_a_single_column_stay(tmp_path: Path, format_: type[Files]) -> None:
    files = format_(str(tmp_path / "lake"), partition=LETTERS, schema={"v": "string"})
    files.save({"a": pd.DataFrame({"v": ["x", None, ""]})})
    assert columns_of(files)["v"] == ["x", None, ""]


def test_es4_a_csv_file_that_can_not_hold_them_is_refused(tmp_path: Path) -> None:
    files = Csv(str(tmp_path / "lake"), partition=LETTERS, schema={"v": "string"})
    with pytest.raises(WriterError, match="a null in the only column"):
        files.save({"a": pd.DataFrame({"v": ["x", None]})})
    assert file_names(files) == []


@pytest.mark.parametrize("as_", FRAMES)
def test_es7_a_column_that_came_is_read(files: Parquet, as_: str) -> None:
    files.save({"a": pd.DataFrame({"v": [1]})})
    files.save({"b": pd.DataFrame({"v": [2], "w": ["new"]})}, evolve=True)
    assert columns_of(files, as_) == {"v": [1, 2], "w": [None, "new"], "letter": ["a", "b"]}
    assert columns_of(files, as_, where=field("w") == "new", full_scan=True)["v"] == [2]
    assert files.load(field("letter") == "a", as_)["a"]().shape[1] == 3


@pytest.mark.parametrize("as_", FRAMES)
def test_es7_a_type_that_became_wider_is_read(files: Parquet, as_: str) -> None:
    files.save({"a": pa.table({"v": pa.array([1], pa.int32())})})
    files.save({"b": pa.table({"v": pa.array([2**40], pa.int64())})}, evolve=True)
    assert columns_of(files, as_)["v"] == [1, 2**40]
    frozen = files.freeze("run")
    assert columns_of(frozen, as_)["v"] == [1, 2**40]


def test_es7_columns_stay_in_their_order(files: Parquet) -> None:
    files.save({"a": pd.DataFrame({"u": [1], "v": [1], "w": [1]})})
    files.save({"b": pd.DataFrame({"v": [2]})}, evolve=True)
    assert list(columns_of(files)) == ["u", "v", "w", "letter"]


def test_es7_a_table_has_its_part_of_the_schema(tmp_path: Path) -> None:
    shop = Parquet(str(tmp_path / "shop"), partition=LETTERS, tables=("orders", "items"))
    orders = pd.DataFrame({"id": [1]})
    shop.save({"a": {"orders": orders, "items": pd.DataFrame({"id": [1]})}})
    shop.save({"b": {"orders": orders, "items": pd.DataFrame({"id": [2], "price": [0.5]})}}, evolve=True)
    assert columns_of(shop.table("items"))["price"] == [None, 0.5]
    assert list(columns_of(shop.table("orders"))) == ["id", "letter"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"n": pd.Series([2], dtype="int32"), "s": ["y"]}),
        pd.DataFrame({"n": [2], "s": [None]}),
        pd.DataFrame({"n": [2], "s": [float("nan")]}),
        pd.DataFrame({"n": pd.Series([], dtype="int64"), "s": pd.Series([], dtype="float64")}),
        pd.DataFrame({"n": [None], "s": ["y"]}),
        pl.DataFrame({"s": ["y"], "n": pl.Series([2], dtype=pl.Int16)}),
    ],
)
def test_es14_narrower_numbers_and_nulls_fit_the_recorded_schema(files: Parquet, frame: Any) -> None:
    files.save({"a": pd.DataFrame({"n": [2**40], "s": ["x"]})})
    files.save({"b": frame})
    assert files.get("b").metadata["schema"] == {"n": "bigint", "s": "string"}
    assert columns_of(files)["n"][0] == 2**40
    with pytest.raises(SchemaError, match="'n' is double, not bigint"):
        files.save({"c": pd.DataFrame({"n": [0.5], "s": ["x"]})})


def test_es8_names_that_differ_in_case_are_refused(files: Parquet) -> None:
    with pytest.raises(SchemaError, match="columns 'a' and 'A' are one to Spark"):
        files.save({"a": pd.DataFrame({"a": [1], "A": [2]})})
    files.save({"a": pd.DataFrame({"n": [1]})})
    for evolve in (False, True):
        with pytest.raises(SchemaError, match="'N' is written 'n'"):
            files.save({"b": pd.DataFrame({"N": [1]})}, evolve=evolve)
    assert file_names(files) == ["a"]


@pytest.mark.parametrize("schema", [{"v": "bigint"}, None])
@pytest.mark.parametrize("format_", [Parquet, Json, Orc, Csv])
def test_es9_a_partition_without_rows_is_read(
    tmp_path: Path, format_: type[Files], schema: dict[str, str] | None
) -> None:
    files = format_(str(tmp_path / "lake"), partition=LETTERS, schema=schema)
    files.save({"a": pd.DataFrame({"v": pd.Series([], dtype="int64")}), "b": pd.DataFrame({"v": [1]})})
    for as_ in FRAMES:
        assert columns_of(files, as_)["v"] == [1]
    assert files.read("a", "arrow").num_rows == 0


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"v": [1, "x"]}),
        pd.DataFrame({"v": [1j]}),
        pd.DataFrame([[1, 2]], columns=["v", "v"]),
        pd.DataFrame({"v": [1]}, index=pd.Index([7], name="v")),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["v", "v"]),
    ],
)
def test_es15_frames_that_can_not_be_written_are_named(files: Parquet, frame: Any) -> None:
    with pytest.raises((ResultError, SchemaError), match=r"partition 'a': .*expected"):
        files.save({"a": frame})
    assert file_names(files) == []


@pytest.mark.parametrize("column", [pd.Series([1]), pl.Series([1]), pa.array([1]), pa.chunked_array([[1]])])
def test_et7_a_column_is_no_frame(files: Parquet, column: Any) -> None:
    name = type(column).__name__
    with pytest.raises(ResultError, match=rf"got {name}; expected a frame of pandas, polars, Arrow or Spark"):
        files.save({"a": column})


def test_es15_frames_without_keys_are_refused(files: Parquet) -> None:
    frame = pd.DataFrame({"v": [1]})
    for data, name in ((frame, "DataFrame"), ([frame], "list")):
        with pytest.raises(
            ResultError, match=rf"got {name}; expected frames by their key, such as .*{{partition: frame}}"
        ):
            files.save(data)  # type: ignore[arg-type]


def test_es15_what_is_kept_with_a_partition_has_a_form_in_json(files: Parquet) -> None:
    with pytest.raises(ResultError, match=r"user=.* has no form in JSON"):
        files.save({"a": pd.DataFrame({"v": [1]})}, user={"by": object()})
    assert file_names(files) == []


def test_es15_a_key_longer_than_the_name_of_a_folder_may_be_is_refused_first(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "lake"), partition=PartitionAtRuntime("airport"))
    called: list[str] = []
    frames = {"EWR": lambda: called.append("EWR"), "é" * 240: pd.DataFrame({"v": [1]})}
    with pytest.raises(LayoutError, match=rf"partition of '{files.path}': directory name 'airport=é+'… has 488 bytes"):
        files.save(frames)
    with pytest.raises(InvalidKeyError, match=r"key 'x+'… has 300 characters; expected at most 250"):
        files.save({"x" * 300: pd.DataFrame({"v": [1]})})
    assert (called, file_names(files)) == ([], [])


@pytest.mark.parametrize(("kind", "most"), [("int", 2**31 - 1), ("bigint", 2**63 - 1)])
def test_es5_a_key_that_its_column_can_not_hold_is_refused(tmp_path: Path, kind: str, most: int) -> None:
    frame = pd.DataFrame({"v": [1]})
    shards = Parquet(
        str(tmp_path / "one"), partition=PartitionAtRuntime("shard"), partition_on={"shard": Column("{shard}", kind)}
    )
    pairs = Parquet(
        str(tmp_path / "two"),
        partition=PartitionAtRuntime("pair"),
        partition_on={"name": "{pair[0]}", "n": Column("{pair[1]}", kind)},
    )
    pairs.save({("x", most): frame, ("x", -most - 1): frame})
    for number in (most + 1, -most - 2):
        with pytest.raises(InvalidKeyError, match=rf"n: {number} has more than .*n: {kind}"):
            pairs.save({("x", number): frame})
        with pytest.raises(LayoutError, match=f"is not a {kind}; declare another type"):
            shards.save({number: frame})
    assert sorted(columns_of(pairs)["n"]) == [-most - 1, most]


def test_es6_secrets_are_no_arguments_of_find() -> None:
    assert repr(FilePerKey(".csv", find={"maxdepth": 1})) == "FilePerKey(suffix='.csv', find=(('maxdepth', 1),))"
    with pytest.raises(LayoutError, match="expected the dataset's own credentials=") as error:
        FilePerKey(".csv", find={"credentials": {"secret": "S3CRET"}})
    assert "S3CRET" not in str(error.value)


def test_es6_secrets_are_not_shown(tmp_path: Path) -> None:
    files = Csv(str(tmp_path), partition=LETTERS, options={"sep": ";", "credentials": {"secret": "S3CRET"}})
    assert "S3CRET" not in repr(files)
    assert "('sep', ';')" in repr(files)
    assert files == Csv(str(tmp_path), partition=LETTERS, options=files.options)
