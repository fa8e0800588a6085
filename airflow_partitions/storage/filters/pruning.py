"""Pruning: a filter split into what folders decide and the residual for the engine.

A filter is compiled once. Its conditions on dimensions become conditions on partition columns, so that a folder's name
decides them; the rest goes to the engine. :attr:`Pruning.non_pruning` names the parts that exclude no folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from airflow_partitions.core.errors import FilterError, LayoutError
from airflow_partitions.storage.filters.binding import BoundColumns, DirectoryTest, Texts
from airflow_partitions.storage.filters.expressions import arrow_condition, spark_condition
from airflow_partitions.storage.filters.filter import And, Condition, Filter, Or, all_of
from airflow_partitions.storage.filters.values import test_of, typed
from airflow_partitions.storage.layout.column import TYPES
from airflow_partitions.storage.layout.layout import Layout

if TYPE_CHECKING:
    from pyspark.sql import Column

#: Told the texts of some partition columns: whether folders with them may, must or must not be taken.
Decision: TypeAlias = Callable[[Texts], bool | None]


@attrs.frozen
class Pruning:
    """A filter, compiled for one dataset.

    :ivar where: what was asked.
    :ivar lowered: the same in terms of columns.
    :ivar non_pruning: parts of it that exclude no folder.
    :ivar residual: what is left to be said to the engine that reads the rows; ``None`` if the folders say it all.
    """

    where: Filter
    lowered: Filter
    non_pruning: tuple[Filter, ...]
    residual: Filter | None
    _fields: BoundColumns = attrs.field(repr=False, eq=False)
    _accept: Decision = attrs.field(repr=False, eq=False)

    @property
    def prunes(self) -> bool:
        """Whether some part of it can exclude folders."""
        return _prunes(self.lowered, self._fields.types)

    def accepts(self, texts: Texts) -> bool:
        """Whether folders whose partition columns have these *texts* may hold rows; columns may be left out.

        :raises LayoutError: if a text is none of its column's type.
        """
        return self._accept(texts) is not False

    @property
    def typed(self) -> Filter:
        """The same in terms of columns, with values of their types."""
        return self._typed(self.lowered)

    def _typed(self, part: Filter) -> Filter:
        if isinstance(part, Condition):
            return typed(part, self._fields.type_of(part.field))
        if isinstance(part, And | Or):
            return type(part)(tuple(map(self._typed, part.parts)))
        return part

    def to_spark(self, part: Filter | None = None, types: Mapping[str, str | None] | None = None) -> Column:
        """The filter, or a *part* of its lowered form, as a condition of Spark on bare columns.

        :param types: Spark's types of columns that the dataset does not declare.
        :raises FilterError: if only folder names can decide it.
        """
        from pyspark.sql import functions as f

        whole = self.lowered if part is None else part
        return self._expression(whole, types or {}, spark_condition, f.lit)  # type: ignore[no-any-return]

    def to_arrow(self, part: Filter | None = None, types: Mapping[str, str | None] | None = None) -> Any:
        """The filter, or a *part* of its lowered form, as an expression of pyarrow on bare columns.

        :param types: Spark's types of columns that the dataset does not declare.
        :raises FilterError: if only folder names can decide it.
        """
        import pyarrow.compute as pc

        return self._expression(self.lowered if part is None else part, types or {}, arrow_condition, pc.scalar)

    def _expression(
        self,
        part: Filter,
        types: Mapping[str, str | None],
        compared: Callable[[Condition, str | None], Any],
        constant: Callable[[bool], Any],
    ) -> Any:
        if isinstance(part, Condition):
            kind = self._fields.type_of(part.field) or types.get(part.field)
            exact = typed(part, kind)
            return compared(exact, kind) if isinstance(exact, Condition) else constant(isinstance(exact, And))
        if isinstance(part, And | Or):
            conditions = [self._expression(each, types, compared, constant) for each in part.parts]
            join = and_ if isinstance(part, And) else or_
            return reduce(join, conditions) if conditions else constant(isinstance(part, And))
        raise FilterError(
            f"{part}: the texts of its columns don't sort like their values, so that no engine can compare them;"
            " expected a range with two bounds, and no 'or' with columns of the files"
        )


def prune(where: Filter, layout: Layout | None, schema: Mapping[str, str] | None = None) -> Pruning:
    """Compile *where* for a dataset.

    :param layout: its folders, ``None`` without partitions.
    :param schema: column to type of its files, ``None`` if that is not known.
    :raises FilterError: if there is no such field, or it can't be compared so.
    """
    fields = BoundColumns(layout, schema)
    lowered = fields.bind(where)
    parts = lowered.parts if isinstance(lowered, And) else (lowered,)
    undecided = tuple(part for part in parts if not _decided(part, fields.types))
    return Pruning(
        where,
        lowered,
        non_pruning=tuple(part for part in parts if not _prunes(part, fields.types)),
        residual=all_of(undecided) if undecided else None,
        fields=fields,
        accept=_accept(lowered, fields.types),
    )


def _prunes(part: Filter, types: Mapping[str, str]) -> bool:
    if isinstance(part, Condition):
        return part.field in types
    if isinstance(part, And | Or):
        answers = [_prunes(each, types) for each in part.parts]
        return any(answers) if isinstance(part, And) else all(answers)
    return True


def _decided(part: Filter, types: Mapping[str, str]) -> bool:
    """Whether the folder alone decides *part*."""
    if isinstance(part, Condition):
        return part.field in types
    return all(_decided(each, types) for each in part.parts) if isinstance(part, And | Or) else True


def _accept(part: Filter, types: Mapping[str, str]) -> Decision:
    """*part* as a question about texts; ``None`` is the answer where they don't tell."""
    if isinstance(part, DirectoryTest):
        return lambda texts: part.accepts(texts) if all(name in texts for name in part.columns) else None
    if isinstance(part, Condition):
        return _compared(part, types[part.field]) if part.field in types else lambda _: None
    if not isinstance(part, And | Or):
        raise FilterError(f"{part!r} can't be compiled; expected a filter made with field(…)")
    questions = [_accept(each, types) for each in part.parts]
    final = isinstance(part, Or)

    def joined(texts: Texts) -> bool | None:
        answer: bool | None = not final
        for question in questions:
            if (outcome := question(texts)) is final:
                return final
            if outcome is None:
                answer = None
        return answer

    return questions[0] if len(questions) == 1 else joined


def _compared(condition: Condition, kind: str) -> Decision:
    name, read, holds = condition.field, TYPES[kind], test_of(condition, kind)

    def compared(texts: Texts) -> bool | None:
        if (text := texts.get(name)) is None:
            return None
        try:
            return holds(read(text))
        except ValueError:
            raise LayoutError(f"partition column {name!r}: {text!r} is not a {kind}; expected folders of one") from None

    return compared
