"""Schemas of pandera as checks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.checks.check import Check
from airflow_partitions.checks.result import SHOWN, Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.frames.frame import Frame
from airflow_partitions.frames.rows import first_rows
from airflow_partitions.storage.metadata.counts import count

if TYPE_CHECKING:
    import pyarrow as pa

#: Modules of pandera, and the frames that their schemas are about. LazyFrames it checks by their types alone.
_KINDS = {"pandera.api.pandas": "pandas", "pandera.api.polars": "polars"}
_FAILURES = ("column", "check", "failure_case", "index")


def is_pandera(schema: Any) -> bool:
    """Whether *schema* is one of pandera: a ``DataFrameSchema``, or a class that is a ``DataFrameModel``."""
    return any(module.startswith("pandera.") for module in _modules(schema)) and hasattr(schema, "validate")


@attrs.frozen
class SchemaCheck(Check):
    """What a schema of pandera says of the rows.

    .. code-block:: python

        class Delays(pandera.polars.DataFrameModel):
            origin: str = pandera.polars.Field(isin=["EWR", "JFK"])

    :param schema: a ``DataFrameSchema`` or ``DataFrameModel`` of ``pandera.polars`` or ``pandera.pandas``. It may
        stand in ``checks=`` by itself.
    """

    schema: Any = attrs.field()

    @schema.validator
    def _check_schema(self, _: attrs.Attribute[Any], schema: Any) -> None:
        if not is_pandera(schema) or not self.kind:
            raise InvalidDefinitionError(
                f"{schema!r} is no schema that can be checked; expected one of pandera.polars or pandera.pandas"
            )

    @property
    def kind(self) -> str:
        """The frame that it is about."""
        modules = _modules(self.schema)
        return next((kind for prefix, kind in _KINDS.items() if any(m.startswith(prefix) for m in modules)), "")

    @property
    def name(self) -> str:
        return f"schema {self._schema.name or type(self.schema).__name__}"

    @property
    def expected(self) -> str:
        return "what the schema says"

    @property
    def columns(self) -> None:
        return None

    @property
    def needed_columns(self) -> Iterable[str]:
        """The columns that have to be there."""
        columns = self._schema.columns.items()
        return [name for name, column in columns if column.required and not column.regex]

    def by_rows(self, staged: StagedPartition, rows: pa.Table) -> Observation:
        frame = Frame(self.kind).of_arrow(rows.select(list(staged.schema)))
        try:
            self.schema.validate(frame, lazy=True)
        except Exception as error:
            failures = getattr(error, "failure_cases", None)
            if failures is None:
                raise
            examples = [{name: row[name] for name in _FAILURES} for row in first_rows(failures, SHOWN)]
            return Observation(False, count(len(failures), "failure"), examples)
        return Observation(True, f"all of {count(rows.num_rows, 'row')}")

    @property
    def _schema(self) -> Any:
        return self.schema.to_schema() if hasattr(self.schema, "to_schema") else self.schema


def _modules(schema: Any) -> list[str]:
    return [each.__module__ for each in (schema if isinstance(schema, type) else type(schema)).__mro__]
