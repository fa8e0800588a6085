"""States of a request for partitions."""

from __future__ import annotations

from typing import Literal, get_args

RequestState = Literal["creating", "running", "paused", "stopped", "cancelled", "done", "failed"]
REQUEST_STATES = get_args(RequestState)
#: States in which nothing happens any more, unless somebody asks for it.
ENDED = ("done", "failed", "cancelled")
