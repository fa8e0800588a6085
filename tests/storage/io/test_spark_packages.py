"""What a session without a format is advised to load."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from airflow_partitions.core.errors import ReaderError
from airflow_partitions.storage.io.spark_reader import known_format

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("kind", "version", "words"),
    [
        ("avro", "3.5.9", r"spark\.jars\.packages=org\.apache\.spark:spark-avro_2\.12:3\.5\.9,"),
        ("avro", "4.3.0", r"spark\.jars\.packages=org\.apache\.spark:spark-avro_2\.13:4\.3\.0,"),
        ("iceberg", "3.5.9", r"org\.apache\.iceberg:iceberg-spark-runtime-3\.5_2\.12:[\d.]+,"),
        ("iceberg", "4.0.5", r"org\.apache\.iceberg:iceberg-spark-runtime-4\.0_2\.13:[\d.]+,"),
        ("iceberg", "4.1.0.dev1", r"org\.apache\.iceberg:iceberg-spark-runtime-4\.1_2\.13:[\d.]+,"),
        ("iceberg", "4.3.0", r"expected Spark 3\.5, 4\.0 or 4\.1, .* none is known for Spark 4\.3, or as_="),
        ("delta", "4.1.3", r"expected the package of the format, or as_="),
    ],
)
def test_ed8_the_advice_fits_the_spark_at_hand(kind: str, version: str, words: str) -> None:
    session: Any = SimpleNamespace(version=version)
    with pytest.raises(ReaderError, match=words), known_format(kind, session):
        raise AnalysisException(f"[DATA_SOURCE_NOT_FOUND] Failed to find the data source: {kind}.")


def test_the_docs_name_the_same_release_of_iceberg() -> None:
    from airflow_partitions.storage.io.spark_packages import iceberg_package

    package = iceberg_package("4.1")
    for name in ("docs/guides/iceberg.md", "dags/flights_iceberg.py"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert package in text
        assert text.count("iceberg-spark-runtime") == text.count(package)
