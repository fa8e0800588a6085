"""Statements that make a dataset a table of an SQL engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.file_dataset import FileDataset
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.io.spark_options import format_options
from airflow_partitions.storage.io.spark_reader import quoted, spark_path
from airflow_partitions.storage.metadata.arrow_types import arrow_type
from airflow_partitions.storage.scan.recorded_schema import with_schema
from airflow_partitions.storage.sql.text import indented, listed, sql_name, sql_text
from airflow_partitions.storage.stores.open import has_log

if TYPE_CHECKING:
    import pyarrow as pa

#: Arrow's plain types as DuckDB and Trino both call them.
_PLAIN = {
    "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
    "double": "DOUBLE", "string": "VARCHAR", "date32[day]": "DATE",
}  # fmt: skip


@attrs.frozen
class _Types:
    """What an engine calls types.

    :ivar plain: Arrow's names to its own.
    :ivar array: the form of an array, around the type of its items.
    :ivar struct: the form of a struct, around its fields.
    """

    plain: Mapping[str, str]
    array: str
    struct: str

    def of(self, kind: pa.DataType) -> str:
        """The name of Arrow's type *kind*."""
        import pyarrow as pa

        if pa.types.is_decimal(kind):
            return f"DECIMAL({kind.precision}, {kind.scale})"
        if pa.types.is_map(kind):
            return f"MAP({self.of(kind.key_type)}, {self.of(kind.item_type)})"
        if pa.types.is_list(kind):
            return self.array.format(self.of(kind.value_type))
        if pa.types.is_struct(kind):
            return self.struct.format(", ".join(f"{sql_name(field.name)} {self.of(field.type)}" for field in kind))
        return self.plain[str(kind)]

    def of_columns(self, columns: Mapping[str, str]) -> dict[str, str]:
        """The names of the types of *columns*, which are Spark's."""
        return {column: self.of(arrow_type(kind)) for column, kind in columns.items()}


_INSTANT = "TIMESTAMP WITH TIME ZONE"
_DUCKDB = _Types(
    {
        **_PLAIN,
        "float": "FLOAT",
        "binary": "BLOB",
        "timestamp[us, tz=UTC]": _INSTANT,
        "timestamp[us]": "TIMESTAMP",
    },
    "{}[]",
    "STRUCT({})",
)
#: Its Hive connector has one type for instants and for times without a zone.
_TRINO = _Types(
    {
        **_PLAIN,
        "float": "REAL",
        "binary": "VARBINARY",
        "timestamp[us, tz=UTC]": "TIMESTAMP",
        "timestamp[us]": "TIMESTAMP",
    },
    "ARRAY({})",
    "ROW({})",
)
#: Those that Trino reads as we write them; its CSV has text only.
_TRINO_FORMATS = ("parquet", "orc", "avro")


def ddl(dataset: Dataset, table: str, engine: str = "spark") -> str:
    """The statements by which an engine sees *dataset* as a table: the columns of its files, and where they are; or the
    catalog that its table of Iceberg is in.

    .. code-block:: python

        print(ddl(delays, "delays", "duckdb"))

    They may be run again, and have to be where an engine keeps a list of the partitions (Spark and Trino do): that
    brings the list up to date. No rows are read, and nothing is changed here. No password is shown: a comment says
    which properties of the catalog are left to you.

    :param table: its name, with the catalog's and the schema's if wanted (``lake.delays``); Trino needs both.
    :param engine: ``"spark"``, ``"duckdb"`` (of Parquet and Iceberg) or ``"trino"`` (its Hive and Iceberg connectors).
    :return: the statements, each with ``;`` and a line break at its end.
    :raises InvalidDefinitionError: if folders don't tell what is current, or the engine can't read the dataset.
    :raises StorageError: if the schema is not declared, and the one that commits recorded can't be read.
    """
    if engine not in _ENGINES:
        raise InvalidDefinitionError(f"engine {engine!r} is not known; expected one of: {', '.join(_ENGINES)}")
    _check_current(dataset)
    return "".join(f"{statement};\n" for statement in open_backend(dataset).statements(table, engine))


def file_statements(dataset: FileDataset, table: str, engine: str) -> Iterator[str]:
    """The statements by which *engine* sees *dataset* as *table*, each without its end.

    :raises InvalidDefinitionError: if folders don't tell what is current, or the engine can't read it.
    """
    if dataset.layout.in_frames and has_log(dataset):
        raise InvalidDefinitionError(
            f"storage {dataset.path!r}: a log says which of its files are current, and its folders hold replaced ones"
            f" too; expected explore(spark, files, {table!r}) after each commit, the paths of files.list() for other"
            " engines, or storage=Iceberg(…)"
        )
    return _ENGINES[engine](dataset, table)


def spark_table(dataset: FileDataset, table: str) -> str:
    """The statement that makes *dataset* a table of Spark, of which no partition is known yet.

    :raises InvalidDefinitionError: if nothing tells its columns, or no columns tell its partitions.
    """
    columns = {**_schema(dataset), **_partition_columns(dataset)}
    options = [f"{spark_text(name)} = {spark_text(value)}" for name, value in format_options(dataset).items()]
    fields = listed(f"{quoted(name)} {kind}" for name, kind in columns.items())
    clauses = [
        f"CREATE TABLE IF NOT EXISTS {spark_name(table)} {fields}",
        f"USING {dataset.format}",
        *([f"OPTIONS ({', '.join(options)})"] if options else []),
        f"PARTITIONED BY ({', '.join(map(quoted, _partition_columns(dataset)))})",
        f"LOCATION {spark_text(spark_path(dataset.path))}",
    ]
    return "\n".join(clauses)


def spark_name(table: str) -> str:
    """The name of a *table*, with the schema's and the catalog's, as text for Spark."""
    return ".".join(map(quoted, table.split(".")))


def _spark(dataset: FileDataset, table: str) -> Iterator[str]:
    _check_no_table(dataset, "spark")
    yield spark_table(dataset, table)
    yield f"MSCK REPAIR TABLE {spark_name(table)} SYNC PARTITIONS"


def _duckdb(dataset: FileDataset, table: str) -> Iterator[str]:
    if dataset.format != "parquet":
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} is {dataset.format}, whose columns and options DuckDB has other names for;"
            " expected Parquet, or engine='spark'"
        )
    schema, folders = _DUCKDB.of_columns(_schema(dataset)), _DUCKDB.of_columns(_partition_columns(dataset))
    columns = [f"{_duckdb_value(sql_name(name), kind)} AS {sql_name(name)}" for name, kind in schema.items()]
    types = ", ".join(f"{sql_text(name)}: {kind}" for name, kind in folders.items())
    # So that a column that no file has is null. Instants may be of either type: see below.
    kinds = {name: "TIMESTAMP" if kind == _INSTANT else kind for name, kind in schema.items()}
    nulls = ", ".join(f"NULL::{kind} AS {sql_name(name)}" for name, kind in kinds.items())
    root = str(local(dataset.path)) if is_local(dataset.path) else dataset.path
    levels = [*("*=*" for _ in folders), *([] if dataset.member is None else [dataset.member])]
    # No pattern is meant by the path; what begins with _ or . is no data.
    files = sql_text("/".join([re.sub(r"([*?\[])", r"[\1]", root), *levels, "[!_.]*"]))
    lines = [
        f"CREATE OR REPLACE VIEW {'.'.join(map(sql_name, table.split('.')))} AS",
        f"SELECT{indented([*columns, *map(sql_name, folders)])}",
        "FROM (",
        f"  FROM read_parquet({files}, hive_partitioning = true, hive_types = {{{types}}}, union_by_name = true)",
        f"  UNION ALL BY NAME SELECT {nulls} WHERE false",
        ")",
    ]
    yield "\n".join(lines)


def _duckdb_value(column: str, kind: str) -> str:
    """The *column* as *kind*. The instants that Spark writes by default are times without a zone to DuckDB: in UTC."""
    return f"make_timestamptz(epoch_us({column}))" if kind == _INSTANT else f"CAST({column} AS {kind})"


def _trino(dataset: FileDataset, table: str) -> Iterator[str]:
    _check_no_table(dataset, "trino")
    if table.count(".") != 2:
        raise InvalidDefinitionError(
            f"table {table!r} is not where Trino can find it; expected catalog, schema and name, such as"
            f" 'hive.lake.{table}'"
        )
    if dataset.format not in _TRINO_FORMATS:
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} is {dataset.format}; of Trino's formats expected one of"
            f" {', '.join(_TRINO_FORMATS)}"
        )
    catalog, schema, name = table.split(".")
    folders = _TRINO.of_columns(_partition_columns(dataset))
    columns = {**_TRINO.of_columns(_schema(dataset)), **folders}
    location = f"file://{local(dataset.path)}" if is_local(dataset.path) else dataset.path
    properties = [
        f"format = {sql_text(dataset.format.upper())}",
        f"partitioned_by = ARRAY[{', '.join(map(sql_text, folders))}]",
        f"external_location = {sql_text(location)}",
    ]
    yield (
        f"CREATE TABLE IF NOT EXISTS {'.'.join(map(sql_name, (catalog, schema, name)))}"
        f" {listed(f'{sql_name(n)} {kind}' for n, kind in columns.items())}\n"
        f"WITH {listed(properties)}"
    )
    yield (
        f"CALL {sql_name(catalog)}.system.sync_partition_metadata(schema_name => {sql_text(schema)},"
        f" table_name => {sql_text(name)}, mode => 'FULL', case_sensitive => false)"
    )


#: What each engine is told about a dataset of files.
_ENGINES: Mapping[str, Callable[[FileDataset, str], Iterator[str]]] = {
    "spark": _spark,
    "duckdb": _duckdb,
    "trino": _trino,
}


def _check_current(dataset: Dataset) -> None:
    """Refuse a *dataset* that is not what is current, or has several tables."""
    if dataset.pin is not None:
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} is frozen for a run, and a table shows what is stored now; expected the dataset"
            " itself"
        )
    if dataset.members and dataset.member is None:
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} has several tables; expected one of them, such as .table({dataset.members[0]!r})"
        )


def _check_no_table(dataset: FileDataset, engine: str) -> None:
    if dataset.member is not None:
        raise InvalidDefinitionError(
            f"storage {dataset.path!r}: table {dataset.member!r} lies in a folder of each partition, where"
            f" engine={engine!r} does not look; expected engine='duckdb', or explore(spark, …)"
        )


def _schema(dataset: FileDataset) -> Mapping[str, str]:
    """Column to Spark type, as declared or recorded."""
    schema = with_schema(dataset).schema
    if not schema or not dataset.layout.in_frames:
        raise InvalidDefinitionError(
            f"{dataset.path!r} can't be a table: expected schema={{…}}, and folders of partition columns"
        )
    return dict(schema)


def _partition_columns(dataset: FileDataset) -> Mapping[str, str]:
    """Column to Spark type."""
    return {name: column.type for name, column in dataset.layout.columns.items()}


def spark_text(value: object) -> str:
    """The *value* as a text of Spark's SQL."""
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
