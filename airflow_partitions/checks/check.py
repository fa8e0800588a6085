"""Interface of checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.checks.result import Observation, Severity
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.metadata.statistics import PartitionStatistics

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_partitions.storage.storage import Storage


def column_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """One column, or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def check_columns(_: object, field: attrs.Attribute[tuple[str, ...]], names: tuple[str, ...]) -> None:
    """Refuse what is no name of a column, and no column at all."""
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InvalidDefinitionError(
            f"{field.name}={list(names)}; expected one column or several different ones: 'origin', ['origin', 'hour']"
        )


@attrs.frozen(kw_only=True)
class Check(ABC):
    """A question about a partition between staged and published.

    A subclass of your own has a :attr:`name`, says what is :attr:`expected`, and answers :meth:`by_statistics`, or
    else :meth:`by_rows`.

    :param severity: what a failed check does: ``"error"`` fails the task, and nothing is published; ``"warn"`` says so
        and publishes.
    :param table: the table it is about, if the storage has tables.
    """

    severity: Severity = attrs.field(default="error")
    table: str = ""

    @severity.validator
    def _check_severity(self, _: attrs.Attribute[str], value: str) -> None:
        if value not in ("error", "warn"):
            raise InvalidDefinitionError(f"severity={value!r}; expected 'error' or 'warn'")

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is about, such as ``no nulls in origin``."""

    @property
    def full_name(self) -> str:
        """Its name, with the table that it is about."""
        return f"{self.table}: {self.name}" if self.table else self.name

    @property
    @abstractmethod
    def expected(self) -> str:
        """What there should be, in words."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns that it looks at; ``None`` for all there are."""
        return ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs that it looks at."""
        return ()

    @property
    def needed_columns(self) -> Iterable[str]:
        """The columns that have to be there."""
        return self.columns or ()

    def check_storage(self, storage: Storage) -> None:
        """Refuse to be put to partitions of *storage*, when the Dag file is parsed, as far as its schema is declared.

        :raises InvalidDefinitionError: with the nearest column.
        """
        if storage.schema is not None:
            columns = {*dict(storage.schema), *(storage.layout.columns if storage.layout.in_frames else ())}
            if missing := missing_column(self.needed_columns, sorted(columns), repr(storage.path)):
                raise InvalidDefinitionError(f"check {self.name!r}: {missing}")

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation | None:
        """The answer, if it can be told without reading; ``None`` if the rows have to be looked at."""
        return None

    def by_rows(self, staged: StagedPartition, rows: pa.Table) -> Observation:
        """The answer.

        :param rows: with the columns that it looks at, and perhaps others.
        """
        raise NotImplementedError


def missing_column(columns: Iterable[str], schema: Collection[str], where: str) -> str:
    """Which of *columns* is not in *schema*, in words with the nearest one; ``""`` if all are."""
    for column in columns:
        if column not in schema:
            nearest = get_close_matches(column, schema, n=1)
            hint = f"did you mean {nearest[0]!r}?" if nearest else f"expected some of {', '.join(schema)}"
            return f"there is no column {column!r} in {where}; {hint}"
    return ""
