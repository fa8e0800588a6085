"""The schema of a dataset, held against what is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from airflow_partitions.core.errors import SchemaError
from airflow_partitions.storage.metadata.arrow_types import arrow_type, wider, widest
from airflow_partitions.storage.metadata.change import Change


def check_names(names: Iterable[str], where: str) -> None:
    """Refuse columns of the same name: names that differ in case are the same to Spark.

    :param where: what has them, for the message.
    :raises SchemaError: if there are any.
    """
    seen: dict[str, str] = {}
    for name in names:
        if name.lower() in seen:
            raise SchemaError(
                f"{where}: columns {seen[name.lower()]!r} and {name!r} are one to Spark; expected different names"
            )
        seen[name.lower()] = name


@attrs.frozen
class SchemaRule:
    """What may be written to a dataset.

    :ivar declared: column to Spark type, as the dataset declares it; else the schema is that of its first commit.
    :ivar evolve: columns may come and go, and become wider.
    """

    declared: Mapping[str, str] | None = None
    evolve: bool = False

    def after(self, previous: Mapping[str, str], changes: Sequence[Change]) -> dict[str, str]:
        """The schema of the dataset when *changes* are made.

        :param previous: its schema before.
        :raises SchemaError: if one of them does not fit; the message names the columns.
        """
        schema = dict(previous if self.declared is None else self.declared)
        for change in changes:
            if change.metadata is not None and (columns := change.metadata.schema):
                if schema:
                    self.check(schema, columns, f"partition {change.key!r}")
                schema = widest(schema, columns)
        return schema

    def check(self, schema: Mapping[str, str], columns: Mapping[str, str], name: str) -> None:
        """Make sure that *columns* are those of *schema*.

        :param name: what has them, for the message.
        :raises SchemaError: if they are not; the message names those that differ.
        """
        wrong = [
            f"{column!r} is {columns[column]}, not {kind}"
            for column, kind in schema.items()
            if column in columns and not self._fits(kind, columns[column])
        ]
        spelled = {column.lower(): column for column in schema}
        case = {column: spelled.get(column.lower(), column) for column in columns if column not in schema}
        wrong += [f"{column!r} is written {other!r}" for column, other in case.items() if column != other]
        if not self.evolve:
            wrong += [f"{column!r} is missing" for column in schema if column not in columns]
            wrong += [f"{column!r} is new" for column in columns if column not in schema]
        if wrong:
            shown = ", ".join(f"{column} {kind}" for column, kind in schema.items())
            hint = (
                "schema= where a type changes" if self.evolve else "evolve=True where columns come, go or become wider"
            )
            raise SchemaError(f"{name}: {'; '.join(wrong)}; expected the columns {shown}, or {hint}")

    def _fits(self, kind: str, other: str) -> bool:
        if kind == other or (self.evolve and (wider(kind, other) or wider(other, kind))):
            return True
        return bool(arrow_type(kind) == arrow_type(other))
