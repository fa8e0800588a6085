"""Kinds of frames, as the annotations of a function name them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import date, datetime
from types import NoneType, SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

import attrs

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.frames.frame_type import Columns, FrameType
from airflow_partitions.storage.column_type import check_type
from airflow_partitions.storage.io.registry import is_read

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from airflow_partitions.storage.storage import Storage

#: The frames that come with a reader, by package and name of their type.
_KINDS = {
    ("pyspark", "DataFrame"): "spark",
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "polars.LazyFrame",
    ("pyarrow", "Table"): "arrow",
}
_TYPES: dict[type, str] = {
    str: "string", int: "bigint", float: "double", bool: "boolean",
    bytes: "binary", date: "date", datetime: "timestamp",
}  # fmt: skip


@attrs.frozen
class Frame:
    """What a parameter or a result is annotated as.

    .. code-block:: python

        def delays(flights: Annotated[pl.LazyFrame, {"origin": str, "delay": float}, "parquet"]) -> pl.DataFrame: ...

    :ivar kind: as a reader is called by it: ``"spark"``, ``"pandas"``, …, or a type that one is registered for.
    :ivar columns: the columns it has, each with its Spark type or ``None`` for any; empty for all there are.
    :ivar format: of the files; empty for any.
    """

    kind: str | type = "spark"
    columns: Columns = attrs.field(factory=dict)
    format: str = ""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Its columns; ``None`` for all there are."""
        return tuple(self.columns) or None

    def of_spark(self, frame: DataFrame) -> Any:
        """The rows of a DataFrame of Spark as such a frame."""
        return frame if self.kind == "spark" else self.of_arrow(frame.toArrow())

    def of_arrow(self, table: pa.Table) -> Any:
        """The rows of a table of Arrow as such a frame, of pandas, polars or Arrow."""
        if self.kind == "arrow":
            return table
        if self.kind == "pandas":
            return table.to_pandas()
        import polars as pl

        rows: Any = pl.from_arrow(table)
        return rows.lazy() if self.kind == "polars.LazyFrame" else rows

    def to_json(self) -> dict[str, Any]:
        """JSON form of a frame of a kind that has a name."""
        return {"kind": self.kind, "columns": dict(self.columns), "format": self.format}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Frame:
        """The inverse of :meth:`to_json`."""
        return cls(form["kind"], form["columns"], form["format"])


def frame_of(function: Callable[..., Any], name: str, unknown: Frame | None = None) -> Frame | None:
    """The frame that the parameter *name* of *function*, or ``"return"``, is annotated as; ``None`` if it is not.

    :param unknown: what an annotation stands for that can't be looked up; by default it is refused.
    :raises InvalidDefinitionError: if an annotation can't be looked up, or is written in a way that has no meaning.
    """
    function = inspect.unwrap(function)
    if name not in function.__annotations__:
        return None
    where = f"{function.__name__}: {name}"
    alone = SimpleNamespace(__annotations__={name: function.__annotations__[name]})
    try:
        hint = get_type_hints(alone, function.__globals__, include_extras=True)[name]
    except (NameError, AttributeError) as error:
        if unknown is not None:
            return unknown
        raise InvalidDefinitionError(
            f"{where}: its annotation can't be looked up when the file is parsed: {error}; expected what it names to be"
            " imported at the top of the file, and not below TYPE_CHECKING"
        ) from error
    return _frame(hint, where)


def check_read(frame: Frame, storage: Storage, produced: Frame | None, where: str) -> None:
    """Refuse a *frame* that can't be read from *storage*: see :meth:`.FrameType.misfit`.

    :param produced: what the function returns that makes the partitions.
    :param where: the function and its parameter, for the message.
    :raises InvalidDefinitionError: naming the columns there are.
    """
    stored = FrameType.stored(storage, None if produced is None else produced.columns)
    if (misfit := stored.misfit(frame.columns, frame.format)) is not None:
        raise InvalidDefinitionError(f"{where}: {misfit}")


def stored_as(frame: Frame | None, storage: Storage, where: str) -> Storage:
    """*storage* for what a function returns as *frame*: its columns become the schema, if none is declared.

    :raises InvalidDefinitionError: if the two don't agree.
    """
    if frame is None:
        return storage
    if (misfit := FrameType.stored(storage).misfit({}, frame.format)) is not None:
        raise InvalidDefinitionError(f"{where}: {misfit}")
    if not frame.columns or storage.members:
        return storage
    keys = {name.lower() for name in storage.key_columns}  # who returns them and who does not say the same
    if not storage.schema:
        in_files = {name: kind for name, kind in frame.columns.items() if name.lower() not in keys}
        types = dict(frame.columns) if not storage.layout.in_frames else in_files
        complete = None not in types.values() and (storage.layout.in_frames or keys <= {name.lower() for name in types})
        return attrs.evolve(storage, schema=types) if complete and types else storage
    declared = {name.lower(): kind.lower() for name, kind in storage.schema if name.lower() not in keys}
    columns = {name.lower(): kind and kind.lower() for name, kind in frame.columns.items() if name.lower() not in keys}
    if declared.keys() != columns.keys() or any(kind not in (None, declared[name]) for name, kind in columns.items()):
        raise InvalidDefinitionError(
            f"{where}: it returns columns {dict(frame.columns)}, and {storage.path!r} has schema"
            f" {dict(storage.schema or ())}; expected the same, or only one of the two"
        )
    return storage


def _frame(annotation: Any, where: str) -> Frame | None:
    """What *annotation* says, ``None`` if it is no frame."""
    details: tuple[Any, ...] = ()
    if get_origin(annotation) in (Union, UnionType):  # a frame, or None where there is nothing to read
        several = [each for each in get_args(annotation) if each is not NoneType]
        annotation = several[0] if len(several) == 1 else annotation
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        details = tuple(rest)
    if not isinstance(annotation, type):
        return None
    kind: str | type | None = _KINDS.get((annotation.__module__.partition(".")[0], annotation.__name__))
    if kind is None and annotation is not object and is_read(annotation):
        kind = annotation
    if kind is None:
        return None
    columns: Columns = {}
    form = ""
    for each in details:
        if isinstance(each, str):
            form = each
        elif isinstance(each, Mapping):
            columns = {name: _type(name, value, where) for name, value in each.items()}
        elif isinstance(each, list | tuple | set | frozenset) and all(isinstance(name, str) for name in each):
            columns = dict.fromkeys(each)
        else:
            raise InvalidDefinitionError(
                f"{where}: Annotated[…, {each!r}] says nothing of a frame; expected its columns, such as"
                " {'delay': float} or ['delay'], and a format, such as 'parquet'"
            )
    return Frame(kind, columns, form)


def _type(column: str, kind: Any, where: str) -> str | None:
    if kind is None or kind in _TYPES:
        return None if kind is None else _TYPES[kind]
    if not isinstance(kind, str):
        raise InvalidDefinitionError(
            f"{where}: column {column!r} has type {kind!r}; expected a type of Spark as text, such as 'bigint', or one"
            f" of {', '.join(each.__name__ for each in _TYPES)}"
        )
    check_type(column, kind)
    return kind
