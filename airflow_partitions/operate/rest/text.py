"""Texts of requests."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

#: Any text but one with the character NUL, which PostgreSQL can't take.
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=2_000)]
#: A name or key in a path; a line break there leads nowhere.
PathText = Annotated[str, StringConstraints(pattern=r"^[^\x00\r\n]+$", max_length=2_000)]
