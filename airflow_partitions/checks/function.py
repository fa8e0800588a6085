"""Checks by functions over the staged rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard

import attrs

from airflow_partitions.checks.check import Check
from airflow_partitions.checks.result import SHOWN, Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.errors import InvalidDefinitionError, ResultError
from airflow_partitions.frames.frame import Frame, frame_of
from airflow_partitions.frames.rows import first_rows, row_count
from airflow_partitions.storage.io.registry import is_written
from airflow_partitions.storage.metadata.counts import count

if TYPE_CHECKING:
    import pyarrow as pa

_PARTITION = "partition"
#: Parameters that are not the rows. Only the job has a session.
_RESERVED = (_PARTITION, "spark")


@attrs.frozen
class FunctionCheck(Check):
    """What a function says of the rows.

    .. code-block:: python

        def departures_in_order(rows: pl.DataFrame) -> pl.DataFrame:
            return rows.filter(pl.col("departure") > pl.col("arrival"))  # the rows that fail

    It has a parameter of any name that is annotated as a frame, which gets the rows, and may have ``partition``. It
    returns whether they are as they should be, or a frame with those that are not. What it raises is a failure too.

    :param function: the function. It may stand in ``checks=`` by itself.
    """

    function: Callable[..., Any] = attrs.field()
    frame: Frame | None = attrs.field(default=None, kw_only=True)

    @function.validator
    def _check_function(self, _: attrs.Attribute[Any], function: Any) -> None:
        if not inspect.isroutine(function):
            raise InvalidDefinitionError(f"FunctionCheck({function!r}); expected a function")
        if len(self._parameters(function)) != 1:
            raise InvalidDefinitionError(
                f"check {function.__name__!r} has the parameters {', '.join(inspect.signature(function).parameters)};"
                f" expected one for the rows, such as rows: pl.DataFrame, and perhaps {_PARTITION}"
            )

    @staticmethod
    def _parameters(function: Callable[..., Any]) -> list[str]:
        return [name for name in inspect.signature(function).parameters if name not in _RESERVED]

    @property
    def parameter(self) -> str:
        """The parameter that gets the rows."""
        return self._parameters(self.function)[0]

    def over(self, default: Frame | None) -> FunctionCheck:
        """This check over the frame that its annotation says.

        :param default: where it says nothing, or can't be looked up.
        :raises InvalidDefinitionError: if it says nothing and there is no default.
        """
        frame = frame_of(self.function, self.parameter, default) or default
        if frame is None:
            raise InvalidDefinitionError(
                f"check {self.name!r} does not say what {self.parameter!r} is; expected an annotation:"
                f" def {self.name}({self.parameter}: pl.DataFrame), or one of pandas or Arrow"
            )
        return attrs.evolve(self, frame=frame)

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def expected(self) -> str:
        return "no failing rows"

    @property
    def columns(self) -> tuple[str, ...] | None:
        return None if self.frame is None else self.frame.names

    def by_rows(self, staged: StagedPartition, rows: pa.Table) -> Observation:
        frame, names = self.frame or Frame("arrow"), list(self.columns or staged.schema)
        if isinstance(frame.kind, type):
            value = staged.read_as(frame.kind, names)
        else:
            value = frame.of_arrow(rows.select(names))
        arguments = {self.parameter: value}
        if _PARTITION in inspect.signature(self.function).parameters:
            arguments[_PARTITION] = staged.partition
        return observed(self.function(**arguments))


def by_spark(check: Check) -> TypeGuard[FunctionCheck]:
    """Whether the Spark job that writes the rows makes the *check*."""
    return isinstance(check, FunctionCheck) and check.frame is not None and check.frame.kind == "spark"


def observed(value: Any) -> Observation:
    """What a function observed that returned *value*: whether all is well, or a frame of the rows that are not.

    :raises ResultError: if it is neither.
    """
    answer = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    if isinstance(answer, bool):
        return Observation(answer, f"it returned {answer}")
    if not is_written(type(value)) or not hasattr(type(value), "columns"):  # a column alone is no frame
        raise ResultError(f"it returned {value!r}; expected True or False, or a frame of the rows that fail")
    examples = first_rows(value, SHOWN + 1)
    rows = len(examples) if len(examples) <= SHOWN else row_count(value)
    return Observation(not rows, count(rows, "failing row") if rows else "no failing rows", examples)
