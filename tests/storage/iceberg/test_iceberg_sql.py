"""Statements by which other engines see a table of Iceberg."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

from airflow_partitions import PartitionByInterval
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage import Iceberg, ddl
from airflow_partitions.storage.iceberg.table.open import open_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="date")
POSTGRES = {"type": "sql", "uri": "postgresql+psycopg2://me:secret@db.example.com:5432/lake", "warehouse": "s3://lake"}
REST = {
    "uri": "https://catalog.example.com", "warehouse": "lake", "credential": "me:secret", "scope": "PRINCIPAL_ROLE:ALL",
    "s3.secret-access-key": "secret", "s3.endpoint": "https://s3.example.com",
}  # fmt: skip


def table(catalog: dict[str, str], name: str = "lake", **more: Any) -> Iceberg:
    return Iceberg("city.fares", catalog=name, credentials=catalog, partition=DAYS, **more)


@pytest.fixture
def fares(tmp_path: Path) -> Iceberg:
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db?timeout=60", "warehouse": f"{tmp_path}/lake"}
    storage = table(catalog, "lake_of_fares", schema={"date": "timestamp", "fare": "double"}, create=True)
    rows = pa.table({"date": [datetime(2013, 2, 8, hour, tzinfo=UTC) for hour in range(3)], "fare": [1.0, 2.0, 3.0]})
    storage.save({"2013-02-08": rows, "2013-02-09": pa.table({"fare": [4.0]})})
    return storage


@pytest.mark.spark
def test_spark_sees_the_table_in_its_catalog_and_what_is_published_later(fares: Iceberg, spark: SparkSession) -> None:
    for statement in ddl(fares, "fares").split(";\n"):
        if statement:
            spark.sql(statement)
    assert [row.fare for row in spark.table("fares").orderBy("fare").collect()] == [1.0, 2.0, 3.0, 4.0]
    fares.save({"2013-02-10": pa.table({"fare": [5.0]})})
    spark.sql("REFRESH TABLE lake_of_fares.city.fares")
    assert spark.table("lake_of_fares.city.fares").count() == spark.table("fares").count() == 5


def test_spark_is_told_the_catalog_and_no_password() -> None:
    assert ddl(table(REST), "fares") == (
        "-- Not shown, and yours to add as spark.sql.catalog.lake.…: credential, s3.secret-access-key\n"
        "SET `spark.sql.catalog.lake`=`org.apache.iceberg.spark.SparkCatalog`;\n"
        "SET `spark.sql.catalog.lake.type`=`rest`;\n"
        "SET `spark.sql.catalog.lake.uri`=`https://catalog.example.com`;\n"
        "SET `spark.sql.catalog.lake.warehouse`=`lake`;\n"
        "SET `spark.sql.catalog.lake.scope`=`PRINCIPAL_ROLE:ALL`;\n"
        "SET `spark.sql.catalog.lake.s3.endpoint`=`https://s3.example.com`;\n"
        "CREATE OR REPLACE TEMPORARY VIEW `fares` AS TABLE `lake`.`city`.`fares`;\n"
    )
    statements = ddl(table(POSTGRES), "lake.city.fares")
    assert "SET `spark.sql.catalog.lake.type`=`jdbc`;" in statements
    assert "SET `spark.sql.catalog.lake.uri`=`jdbc:postgresql://db.example.com:5432/lake`;" in statements
    assert "SET `spark.sql.catalog.lake.jdbc.user`=`me`;" in statements
    assert "VIEW" not in statements
    with pytest.raises(InvalidDefinitionError, match=r"or lake\.city\.fares for the table itself"):
        ddl(table(REST), "spark_catalog.city.fares")


def test_duckdb_attaches_a_rest_catalog_and_scans_the_metadata_of_others(fares: Iceberg) -> None:
    attached = ddl(table(REST), "fares", "duckdb")
    assert "ATTACH IF NOT EXISTS 'lake' AS \"lake\" (TYPE iceberg, ENDPOINT 'https://catalog.example.com');" in attached
    assert 'CREATE OR REPLACE VIEW "fares" AS SELECT * FROM "lake"."city"."fares";' in attached
    scanned = ddl(fares, "fares", "duckdb")
    metadata = open_table(fares).metadata_location.removeprefix("file://")
    assert scanned.endswith(f"CREATE OR REPLACE VIEW \"fares\" AS SELECT * FROM iceberg_scan('{metadata}');\n")
    assert Path(metadata).exists()
    for statements in (attached, scanned):  # its extension is not on the package index: the grammar is its own
        kinds = [statement.type for statement in duckdb.extract_statements(statements)]
        assert kinds[-1] is duckdb.StatementType.CREATE


def test_trino_is_told_the_catalog_in_the_words_of_its_iceberg_connector(fares: Iceberg) -> None:
    assert ddl(table(POSTGRES), "lake.city.fares", "trino") == (
        "-- Not shown, and yours to add as Trino calls them: password\n"
        'CREATE CATALOG IF NOT EXISTS "lake" USING iceberg\n'
        "WITH (\n"
        "  \"iceberg.catalog.type\" = 'jdbc',\n"
        "  \"iceberg.jdbc-catalog.catalog-name\" = 'lake',\n"
        "  \"iceberg.jdbc-catalog.driver-class\" = 'org.postgresql.Driver',\n"
        "  \"iceberg.jdbc-catalog.connection-url\" = 'jdbc:postgresql://db.example.com:5432/lake',\n"
        "  \"iceberg.jdbc-catalog.default-warehouse-dir\" = 's3://lake',\n"
        "  \"iceberg.jdbc-catalog.connection-user\" = 'me'\n"
        ");\n"
        'DESCRIBE "lake"."city"."fares";\n'
    )
    assert "\"iceberg.rest-catalog.uri\" = 'https://catalog.example.com'" in ddl(table(REST), "x.city.fares", "trino")
    with pytest.raises(InvalidDefinitionError, match=r"expected it in a catalog of Trino, such as 'lake\.city\.fares'"):
        ddl(table(REST), "fares", "trino")
    with pytest.raises(InvalidDefinitionError, match=r"jdbc:sqlite:/.*expected a REST catalog, or one in postgresql"):
        ddl(fares, "lake_of_fares.city.fares", "trino")


@pytest.mark.parametrize("catalog", [POSTGRES, REST], ids=["sql", "rest"])
@pytest.mark.parametrize("engine", ["spark", "trino"])
def test_nothing_that_is_secret_is_shown(catalog: dict[str, str], engine: str) -> None:
    assert "secret" not in ddl(table(catalog), "lake.city.fares", engine).replace("s3.secret-access-key", "")


def test_a_database_that_java_can_not_be_told_of_is_refused() -> None:
    with pytest.raises(InvalidDefinitionError, match="is in 'oracle', whose address in Java is not known"):
        ddl(table({"type": "sql", "uri": "oracle://db/x"}), "fares")
