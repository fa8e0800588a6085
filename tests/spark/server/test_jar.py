"""The jars are those of the sources."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from airflow_partitions.errors import MissingSparkError
from airflow_partitions.spark.server.build import build
from airflow_partitions.spark.server.distribution import Distribution
from airflow_partitions.spark.server.listener import Listener, source_hash, versions


def test_the_sources_compile_to_the_jar(tmp_path: Path) -> None:
    spark = Distribution.here()
    build(spark, tmp_path / "listener.jar")
    assert (tmp_path / "listener.jar").read_bytes() == Listener.of(spark.version).jar.read_bytes()


@pytest.mark.parametrize("version", versions())
def test_each_jar_is_of_these_sources(version: str) -> None:
    with ZipFile(Listener(version).jar) as archive:
        assert f"Source-SHA-256: {source_hash()}\r\n" in archive.read("META-INF/MANIFEST.MF").decode()


@pytest.mark.parametrize("version", ["3.5.1", "4", "4.10", "", "main"])
def test_a_spark_without_listener_is_named(version: str) -> None:
    with pytest.raises(MissingSparkError, match=f"no listener for Spark '{version}'; expected one of: .*4.1"):
        Listener.of(version)
