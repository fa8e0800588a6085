"""Strips: the states of partitions as a row of characters, told apart by colour and by shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from rich.text import Text

from airflow_partitions.core.definitions import PartitionByProduct, PartitionDefinition


class Look(NamedTuple):
    """How a state looks."""

    shape: str
    colour: str


#: Of a character that stands for several partitions the first of these that one of them is in is shown.
LOOKS: Mapping[str, Look] = {
    "failed": Look("✗", "red"),
    "running": Look("▶", "blue"),
    "queued": Look("◇", "cyan"),
    "stale": Look("▒", "yellow"),
    "waiting": Look("○", "magenta"),
    "missing": Look("·", "bright_black"),
    "skipped": Look("~", "bright_black"),
    "materialized": Look("█", "green"),
}
_NOTHING = Look(" ", "")
_ORDER = list(LOOKS)
#: So many rows of segments fit on a screen.
_MOST_ROWS = 30


def look(state: str) -> Text:
    """The shape and the name of a *state*."""
    return Text(f"{LOOKS[state].shape} {state}", style=LOOKS[state].colour)


def strips(definition: PartitionDefinition, stretches: Sequence[Mapping[str, Any]], width: int) -> list[Text]:
    """A row of *width* characters for each combination of segments; a single one for all if they are too many.

    :param stretches: in JSON form, in any order.
    """
    if not stretches:
        return []
    if definition.time is None:
        return [drawn([(i, i + 1, one["state"]) for i, one in enumerate(stretches)], width)]
    if not isinstance(definition, PartitionByProduct) or definition.combinations() > _MOST_ROWS:
        return [drawn(_spans(stretches), width)]
    rows = [tuple(map(str, key.parts)) for key in definition.segment_keys()]
    label = max(len("|".join(row)) for row in rows)
    bounds = _bounds(stretches)
    names = [one.name for one in definition.segments]
    return [
        Text("|".join(row).ljust(label) + " ").append_text(
            drawn(_spans(_of(stretches, dict(zip(names, row, strict=True)))), max(10, width - label - 1), bounds)
        )
        for row in rows
    ]


def legend(counts: Mapping[str, int]) -> Text:
    """The number of partitions in each state, with its shape."""
    parts = [look(state).append(f" {counts[state]:,}") for state in LOOKS if state in counts]
    return Text("   ").join(parts)


def _of(stretches: Iterable[Mapping[str, Any]], segments: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Those of *stretches* that have partitions of these *segments*."""
    return [one for one in stretches if all(segments[name] in some for name, some in one.get("segments", {}).items())]


def _spans(stretches: Iterable[Mapping[str, Any]]) -> list[tuple[float, float, str]]:
    return [(_seconds(one["start"]), _seconds(one["end"]), one["state"]) for one in stretches]


def _bounds(stretches: Iterable[Mapping[str, Any]]) -> tuple[float, float]:
    spans = _spans(stretches)
    return min(start for start, _, _ in spans), max(end for _, end, _ in spans)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def drawn(spans: Sequence[tuple[float, float, str]], width: int, bounds: tuple[float, float] | None = None) -> Text:
    """A row of characters that each stand for the same length.

    :param spans: where each begins and ends, and the state in it.
    """
    low, high = bounds or (min(span[0] for span in spans), max(span[1] for span in spans))
    states: list[str | None] = [None] * width
    for start, end, state in spans:
        first = int((start - low) / (high - low) * width)
        last = max(first + 1, -int(-((end - low) / (high - low) * width) // 1))
        for i in range(first, min(last, width)):
            here = states[i]
            if here is None or _ORDER.index(state) < _ORDER.index(here):
                states[i] = state
    row = Text()
    for state_or_none in states:
        here_look = _NOTHING if state_or_none is None else LOOKS[state_or_none]
        row.append(here_look.shape, style=here_look.colour)
    return row
