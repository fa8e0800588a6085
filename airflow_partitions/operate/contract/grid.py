"""Operations about pictures of partitions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from airflow_partitions.operate.contract.fields import MOST, USUAL, AssetName, Search, Select, Text
from airflow_partitions.operate.contract.operation import Answer, Given, Operation
from airflow_partitions.operate.state import State

#: The most columns of a picture.
MOST_COLUMNS = 2_000
#: Columns of a picture where nobody says how many.
USUAL_COLUMNS = 400


class Slot(Answer):
    """Keys of one dimension side by side."""

    first: str | None = Field(description="The first of them; null where all are in one", examples=["2013-01-07"])
    last: str | None = Field(description="The last of them", examples=["2013-01-13"])
    count: int = Field(description="Number of keys of the dimension", examples=[7])
    start: str | None = Field(default=None, description="Begin of the first interval, with UTC offset")
    end: str | None = Field(default=None, description="End of the last interval, not part of it")


class Cell(Answer):
    """What is in a cell."""

    states: dict[State, int] = Field(
        description="Numbers of partitions by state; empty if there is none yet", examples=[{"materialized": 7}]
    )
    provisional: int = Field(default=0, description="Number of those made before their interval was over")


class Row(Answer):
    """A row of cells."""

    value: str | None = Field(description="Its segment; null where all are in one", examples=["JFK"])
    runs: list[tuple[int, int]] = Field(
        description="Cells side by side that are the same: number of columns, and place in the list of cells",
        examples=[[[31, 0], [1, 1]]],
    )


class Grid(Answer):
    """A picture of an asset's partitions."""

    asset: str
    version: str = Field(description="Another one whenever a state is; also the ETag")
    now: str = Field(description="The moment of the answer, with UTC offset")
    timezone: str | None = Field(description="IANA name of the zone of the intervals", examples=["America/New_York"])
    across: str | None = Field(description="The dimension whose keys are the columns; null if all are in one")
    down: str | None = Field(description="The dimension whose keys are the rows; null if all are in one")
    start: str | None = Field(description="Begin of the first interval in view, with UTC offset; null without time")
    end: str | None = Field(description="End of the last interval in view, not part of it")
    unit: str | None = Field(
        description='What a whole column is: "interval", "all", or such as "6 hours"; null unless time runs across',
        examples=["week"],
    )
    extent: Slot | None = Field(description="All intervals that there are by now; null without any")
    columns: list[Slot]
    cells: list[Cell] = Field(description="The different cells of these rows")
    rows: list[Row]
    row_count: int = Field(description="Number of all rows")
    row_cursor: str | None = Field(description="From which the next rows go on; null at the end")
    counts: dict[State, int] = Field(description="Of all rows; those that are not 0")
    total: int
    provisional: int = Field(description="Number of those made before their interval was over")


class InView(Given):
    """What of an asset's partitions is to be seen, and how."""

    asset: AssetName
    start: Annotated[
        Text | None,
        Field(description="First moment in view: a date, or a time with its UTC offset", examples=["2013-01-01"]),
    ] = None
    end: Annotated[
        Text | None, Field(description="First moment after the view", examples=["2014-01-01T00:00:00-05:00"])
    ] = None
    columns: Annotated[int, Field(ge=1, le=MOST_COLUMNS, description="The most columns")] = USUAL_COLUMNS
    across: Annotated[
        Text | None,
        Field(description="The dimension whose keys are the columns: by default time; empty for none"),
    ] = None
    down: Annotated[
        Text | None,
        Field(
            description="The dimension whose keys are the rows: by default the first that is no time; empty for none"
        ),
    ] = None
    select: Select = None
    search: Search = None
    row_limit: Annotated[int, Field(ge=1, le=MOST, description="The most rows of a page")] = USUAL
    row_cursor: Annotated[Text | None, Field(description="The cursor of the page of rows before")] = None


class ShowGrid(InView, Operation, route="GET /assets/{asset}/grid", answer=Grid, noun="states", refusals=(404,)):
    """A picture of an asset's partitions at any zoom: columns of one interval each, or of several where they are many.

    Who has the newest answer already, by its ETag, is told so before any state is worked out.
    """
