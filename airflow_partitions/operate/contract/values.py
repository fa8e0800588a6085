"""Operations about a value of each partition."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.operate.contract.grid import InView, Slot
from airflow_partitions.operate.contract.operation import Answer, Operation


class Value(StrEnum):
    """What a partition may be measured by."""

    ROWS = "rows"
    BYTES = "bytes"
    FILES = "files"
    SECONDS = "seconds"
    READ_ROWS = "read_rows"
    READ_BYTES = "read_bytes"
    READ_FILES = "read_files"
    TRIES = "tries"
    AGE = "age"


def _value(given: Any) -> Any:
    """A *given* name as it is; an unknown one is refused with the nearest."""
    names = [str(value) for value in Value]
    if isinstance(given, str) and given not in names:
        nearest = ", ".join(nearest_texts(given, names))
        raise ValueError(f"expected one of {', '.join(names)}; nearest: {nearest}")
    return given


class ValueRow(Answer):
    """The values of a row."""

    value: str | None = Field(description="Its segment; null where all are in one", examples=["JFK"])
    values: list[float | None] = Field(description="One for each column; null where no partition tells it")


class CellValues(Answer):
    """A value in each cell of a picture of an asset's partitions."""

    asset: str
    version: str = Field(description="Another one whenever a value may be; also the ETag")
    now: str = Field(description="The moment of the answer, with UTC offset")
    timezone: str | None = Field(description="IANA name of the zone of the intervals", examples=["America/New_York"])
    value: Value = Field(description="What the values are")
    measure: Literal["number", "bytes", "seconds"] = Field(description="What they are in")
    of_several: Literal["mean", "most"] = Field(
        description="What a cell of several partitions tells: the mean of those that tell one, or the most"
    )
    across: str | None = Field(description="The dimension whose keys are the columns; null if all are in one")
    down: str | None = Field(description="The dimension whose keys are the rows; null if all are in one")
    start: str | None = Field(description="Begin of the first interval in view, with UTC offset; null without time")
    end: str | None = Field(description="End of the last interval in view, not part of it")
    unit: str | None = Field(description="What a whole column is, as a picture of states says it", examples=["week"])
    columns: list[Slot]
    rows: list[ValueRow]
    row_count: int = Field(description="Number of all rows")
    row_cursor: str | None = Field(description="From which the next rows go on; null at the end")
    line: list[float | None] = Field(description="The same of all rows together, for each column")
    line_told: list[int] = Field(
        description="How many partitions tell one, for each column: by these several columns together have their mean"
    )
    least: float | None = Field(description="The smallest of the cells of all rows; null without any")
    low: float | None = Field(
        description="A hundredth of these cells is below that: where a scale begins that is fair to all others"
    )
    high: float | None = Field(description="A hundredth of these cells is above that: where such a scale ends")
    most: float | None = Field(description="The largest of these cells")
    told: int = Field(description="Number of the partitions in view that tell a value")
    untold: int = Field(description="Number of those that could, and tell none")


class ShowValues(
    InView, Operation, route="GET /assets/{asset}/values", answer=CellValues, noun="states", refusals=(404,)
):
    """A value of each partition of an asset, in the cells of the same picture as the states.

    What was written and read and how long it took are of the last time that a partition was materialized; ``tries`` are
    those of its newest run, and ``age`` is how many seconds ago it was materialized. The smallest and the largest
    hundredth of the cells are outside of ``low`` and ``high``, so that one of them does not make all others look alike.
    """

    value: Annotated[
        Value,
        BeforeValidator(_value, json_schema_input_type=Value),
        Field(description="What each partition is measured by", examples=["rows"]),
    ]
