"""The jar is that of the sources, for each Spark it says it is for."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from airflow_partitions.errors import MissingSparkError
from airflow_partitions.spark.server.build import build
from airflow_partitions.spark.server.distribution import Distribution
from airflow_partitions.spark.server.listener import JAR, settings, source_hash

ROOT = Path(__file__).parents[3]


def other_sparks() -> list[Path]:
    """Those in environments beside the one of the tests, as ``.venv-spark-4.2``."""
    return sorted(ROOT.glob(".venv*/lib/python3*/site-packages/pyspark"))


@pytest.mark.parametrize("spark", [Distribution.here(), *map(Distribution, other_sparks())], ids=lambda s: s.version)
def test_the_sources_compile_to_the_jar(spark: Distribution, tmp_path: Path) -> None:
    if not spark.version.startswith("4."):
        pytest.skip("there is no listener for it")
    build(spark, tmp_path / "listener.jar")
    assert (tmp_path / "listener.jar").read_bytes() == JAR.read_bytes(), (
        "python -m airflow_partitions.spark.server.build"
    )


def test_the_jar_names_these_sources() -> None:
    with ZipFile(JAR) as archive:
        assert f"Source-SHA-256: {source_hash()}\r\n" in archive.read("META-INF/MANIFEST.MF").decode()


@pytest.mark.parametrize("version", ["4.0", "4.0.5", "4.1.3", "4.2.1", "4.3.0"])
def test_the_three_settings(version: str) -> None:
    assert settings(version, "/opt/listener.jar") == {
        "spark.driver.extraClassPath": "/opt/listener.jar",
        "spark.sql.extensions": "airflow_partitions.Extensions",
        "spark.sql.queryExecutionListeners": "airflow_partitions.Listener",
    }


@pytest.mark.parametrize("version", ["3.5.1", "4", "4.10", "", "main"])
def test_a_spark_without_listener_is_named(version: str) -> None:
    with pytest.raises(MissingSparkError, match=f"no listener for Spark '{version}'; expected one of: 4.0, 4.1"):
        settings(version)
