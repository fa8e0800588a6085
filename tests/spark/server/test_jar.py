"""The jar is that of the sources, for each Spark it says it is for."""

from __future__ import annotations

import socket
from pathlib import Path
from zipfile import ZipFile

import pytest
from pyspark.errors import PySparkException

from airflow_partitions.core.errors import MissingSparkError
from airflow_partitions.spark.server.build import build
from airflow_partitions.spark.server.connect_server import ConnectServer
from airflow_partitions.spark.server.distribution import Distribution
from airflow_partitions.spark.server.listener import JAR, SPARKS, settings, source_hash
from tests.spark.other_sparks import OtherSpark
from tests.spark.server.conftest import Watched
from tests.spark.test_other_sparks import CHOSEN

#: For ever: a client that is collected while another works stops the threads that all share.
KEPT: list[Watched] = []


def compiled(spark: Distribution, tmp_path: Path) -> bytes:
    build(spark, tmp_path / "listener.jar")
    return (tmp_path / "listener.jar").read_bytes()


def test_the_sources_compile_to_the_jar(tmp_path: Path) -> None:
    assert compiled(Distribution.here(), tmp_path) == JAR.read_bytes(), (
        "python -m airflow_partitions.spark.server.build"
    )


@pytest.mark.long
@pytest.mark.parametrize("minor", [minor for minor in CHOSEN if minor in SPARKS])
def test_it_is_the_same_for_other_sparks(minor: str, tmp_path: Path) -> None:
    assert compiled(Distribution(OtherSpark.of(minor).home), tmp_path) == JAR.read_bytes()


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("minor", [minor for minor in CHOSEN if minor in SPARKS])
def test_servers_of_other_sparks_count_and_refuse(
    minor: str, hours: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    spark = Distribution(OtherSpark.of(minor).home)
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    from pyspark.sql.connect.session import SparkSession

    with ConnectServer(spark=spark, port=port, log=tmp_path / "server.log", memory="1g") as server:
        session = Watched(SparkSession.builder.remote(server.url).create(), hours)
        KEPT.append(session)
        try:
            assert session.promise(0) == {"version": 1, "spark": spark.version}
            assert len(session.read(0).collect()) == 2
            session.read(0).write.parquet(f"{session.root}/out")
            for cheat in (session.read(0, 1), session.spark.read.parquet(f"{session.root}/flights")):
                with pytest.raises(PySparkException, match="UNPROMISED_READ"):
                    cheat.collect()
            assert session.scans == [(["flights/hour=00"], 1, 2)] * 2
        finally:
            session.spark.stop()


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
