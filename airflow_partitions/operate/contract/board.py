"""Operations about many assets over one stretch of time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from airflow_partitions.operate.contract.asset_selection import AssetSelection
from airflow_partitions.operate.contract.assets import Absence
from airflow_partitions.operate.contract.fields import (
    MOST,
    USUAL,
    Cursor,
    Since,
    Until,
)
from airflow_partitions.operate.contract.grid import Cell, Row, Slot
from airflow_partitions.operate.contract.operation import Answer, Operation
from airflow_partitions.operate.state import State

#: The most columns of a board.
MOST_BOARD_COLUMNS = 400
#: Columns of a board where nobody says how many.
USUAL_BOARD_COLUMNS = 100


class BoardColumn(Answer):
    """A stretch of time, the same for all assets."""

    start: str = Field(description="Its begin, with UTC offset")
    end: str = Field(description="Its end, not part of it")


class ScaleSlot(Slot):
    """Intervals side by side that begin in one column of a board; one that is longer goes on in those after it."""

    column: int = Field(description="Place in the list of columns")
    columns: int = Field(description="Number of columns")


class Scale(Answer):
    """Where along the columns the intervals of some assets are."""

    timezone: str = Field(description="IANA name of the zone of the intervals", examples=["America/New_York"])
    slots: list[ScaleSlot]


class Strip(Answer):
    """The partitions of an asset along the columns; a product and keys at runtime are summed."""

    asset: str
    group: str = Field(description="Airflow's group of assets", examples=["asset"])
    tags: list[str] = Field(description="Of its Dags")
    owners: list[str] = Field(description="Of these Dags")
    producers: list[str] = Field(description="Dags that make it")
    upstream: list[str] = Field(description="Assets that the Dags wait for that make it")
    paused: list[str] = Field(description="Those of the Dags that make it that are paused")
    absent: list[Absence] = Field(description="Those of its Dags that Airflow can't run as they are")
    may_change: bool = Field(description="Whether one may ask for its partitions, mark and forget them")
    folded: str | None = Field(
        description="The first of its dimensions that is not time, whose rows one may open; null without any",
        examples=["airport"],
    )
    scale: int | None = Field(description="Place in the list of scales; null without time")
    runs: list[tuple[int, int]] = Field(
        description="Slots of the scale side by side that are the same: their number, and place in the list of cells;"
        " without time one for all partitions; empty if there are none here",
        examples=[[[31, 0], [1, 1]]],
    )
    counts: dict[State, int] = Field(description="Numbers of the partitions here by state; those that are not 0")
    total: int
    rows: list[Row] = Field(description="Those of the dimension that is folded, where it was opened")
    row_count: int = Field(description="Number of all these rows")
    error: str | None = Field(description="Why nothing can be told")


class Board(Answer):
    """Many assets over one stretch of time."""

    now: str = Field(description="The moment of the answer, with UTC offset")
    timezone: str = Field(description="IANA name of the zone by whose clocks columns begin: Airflow's")
    unit: str = Field(description='What a column is: such as "6 hours"', examples=["day"])
    columns: list[BoardColumn]
    scales: list[Scale] = Field(description="One for all assets whose intervals are the same here")
    cells: list[Cell] = Field(description="The different cells")
    strips: list[Strip] = Field(description="What is upstream stands before what is made of it")
    hidden: int = Field(description="Number of all assets that one may not read, which are left out")
    cursor: str | None = Field(description="From which the next page goes on; null at the end")


class ShowBoard(AssetSelection, Operation, route="GET /board", answer=Board, noun="states", refusals=(404,)):
    """The partitions of all assets that one may read over one stretch of time, in one scale, upstream ones first."""

    since: Since = "30d"
    until: Until = None
    columns: Annotated[int, Field(ge=1, le=MOST_BOARD_COLUMNS, description="The most columns")] = USUAL_BOARD_COLUMNS
    states: Annotated[
        list[State] | None, Field(description="Only those with partitions here in one of these states")
    ] = None
    opened: Annotated[bool, Field(description="With rows for what is folded, up to a hundred of each asset")] = False
    limit: Annotated[int, Field(ge=1, le=MOST, description="The most assets of a page")] = USUAL
    cursor: Cursor = None
