"""The tables, as readers see them that know nothing of partitions of ours: from the catalog, or its metadata files."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from demo.errors import DemoError
from demo.home import Home
from demo.iceberg.plan import ASSETS, NAMESPACE, PACKAGE
from demo.processes import tail

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyiceberg.table import Table

SPARK_READER = Path(__file__).with_name("spark_reader.py")
Frames = dict[str, "DataFrame"]


class LeftOutError(DemoError):
    """A reader can't be had on this machine."""


def tables(home: Home) -> dict[str, Table]:
    """The tables by the names of their assets; those that are not made yet are left out."""
    from pyiceberg.catalog import load_catalog

    catalog = load_catalog("lake", **home.catalog)
    names = {name: f"{NAMESPACE}.{name}" for name in ASSETS}
    return {name: catalog.load_table(table) for name, table in names.items() if catalog.table_exists(table)}


def by_pyiceberg(tables: Mapping[str, Table]) -> Frames:
    """All rows of each table, read by pyiceberg."""
    return {name: table.scan().to_pandas() for name, table in tables.items()}


def by_polars(tables: Mapping[str, Table]) -> Frames:
    """The same by polars."""
    import polars as pl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.PerformanceWarning)  # it offers one more package of its own
        return {name: pl.scan_iceberg(_path(table)).collect().to_pandas() for name, table in tables.items()}


def by_duckdb(tables: Mapping[str, Table]) -> Frames:
    """The same by DuckDB, which fetches its extension first.

    :raises LeftOutError: if it can't.
    """
    import duckdb

    with duckdb.connect() as connection:
        try:
            connection.install_extension("iceberg")
            connection.load_extension("iceberg")
        except duckdb.Error as error:
            raise LeftOutError(str(error).splitlines()[0]) from error
        return {
            name: connection.execute("SELECT * FROM iceberg_scan(?)", [_path(table)]).df()
            for name, table in tables.items()
        }


def by_spark(tables: Mapping[str, Table], home: Home) -> Frames:
    """The same by a Spark that has no catalog."""
    import pandas as pd

    out, log = home.root / "read", home.logs / "spark-reader.log"
    words = ["spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false", "--packages", PACKAGE]
    pairs = [f"{_path(table)}={out / name}" for name, table in tables.items()]
    with log.open("w") as lines:
        reading = subprocess.run(
            [*words, str(SPARK_READER), *pairs],
            env=home.environment(dict(os.environ)),
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
            check=False,
        )
    if reading.returncode:
        raise DemoError(f"Spark can't read the tables; the end of {log}:\n{tail(log)}")
    return {name: pd.read_parquet(out / name) for name in tables}


def files(home: Home) -> dict[str, int]:
    """How many files each table has now."""
    return {name: len(table.inspect.data_files()) for name, table in tables(home).items()}


def read(home: Home) -> tuple[dict[str, Frames], dict[str, str]]:
    """What each reader sees in each table; and why those are left out that can't be had."""
    frames, missing = dict[str, Frames](), dict[str, str]()
    now = tables(home)  # all read the same snapshots
    readers: dict[str, Callable[[Mapping[str, Table]], Frames]] = {
        "pyiceberg": by_pyiceberg,
        "Spark": partial(by_spark, home=home),
        "polars": by_polars,
        "DuckDB": by_duckdb,
    }
    for name, reader in readers.items():
        try:
            frames[name] = reader(now)
        except LeftOutError as error:
            missing[name] = str(error)
    return frames, missing


def _path(table: Table) -> str:
    return table.metadata_location.removeprefix("file://")
