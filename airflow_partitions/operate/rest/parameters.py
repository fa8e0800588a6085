"""Parameters that many routes have."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from airflow_partitions.operate.operations.page import MOST
from airflow_partitions.operate.rest.text import Text

Cursor = Annotated[Text | None, Query(description="The cursor of the page before")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="The most entries of a page")]
Search = Annotated[Text | None, Query(description="A part of the text, in capitals or not", examples=["flights"])]
Select = Annotated[
    Text | None,
    Query(
        description="Which partitions: keys, ranges without their end, conditions on dimensions, latest or all",
        examples=["2013-03-01..2013-03-10 & origin in JFK,LGA"],
    ),
]
