"""Fields that many operations have."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

#: The most entries of a page.
MOST = 1_000
#: Entries of a page where nobody says how many.
USUAL = 100

#: The most keys in a list, however many a request may have.
MOST_KEYS = 1_000_000

#: Any text but one with the character NUL, which PostgreSQL can't take.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=2_000)]
#: A name or key in a path; a line break there leads nowhere.
PathText = Annotated[str, StringConstraints(pattern=r"^[^\x00\r\n]+$", max_length=2_000)]

_SELECTION = "Which partitions: keys, ranges without their end, conditions on dimensions, latest or all"
_SELECTED = "2013-03-01..2013-03-10 & origin in JFK,LGA"

AssetName = Annotated[
    PathText, Field(description="Name of the asset; a slash in it is written %2F", examples=["hourly_flights"])
]
RequestId = Annotated[int, Field(ge=1, le=2**31 - 1, description="Number of the request", examples=[7])]
Select = Annotated[Text | None, Field(description=_SELECTION, examples=[_SELECTED])]
KeyTexts = Annotated[
    list[Text] | None,
    Field(
        min_length=1,
        max_length=MOST_KEYS,
        description="Texts of keys, instead of a selection",
        examples=[["2013-03-01", "2013-03-08"]],
    ),
]
Search = Annotated[Text | None, Field(description="A part of the text, in capitals or not", examples=["flights"])]
Since = Annotated[
    Text,
    Field(
        description="Since when: 2h, 30min or 7d ago, 22:00 in Airflow's time zone, or a time with its UTC offset",
        examples=["2h", "22:00", "2013-03-10T22:00+01:00"],
    ),
]
Until = Annotated[Text | None, Field(description="Until when, as since=; by default now")]
Limit = Annotated[int, Field(ge=1, le=MOST, description="The most entries of a page")]
Cursor = Annotated[Text | None, Field(description="The cursor of the page before")]
DryRun = Annotated[bool, Field(description="Change nothing, only tell")]
Reason = Annotated[Text, Field(description="Why; it is kept", examples=["loaded by hand"])]
