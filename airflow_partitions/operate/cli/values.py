"""A value of each partition, as rows of blocks, and as lines for scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from airflow.cli.cli_config import Arg
from rich.text import Text

from airflow_partitions.operate.contract.values import Value

#: The argument of a command that shows a value.
VALUE = Arg(
    ("--value",),
    metavar="VALUE",
    help=f"Also a value of each partition: {', '.join(Value)}",
)
_BLOCKS = "▁▂▃▄▅▆▇█"
_ABOVE, _BELOW = "▲", "▼"
# So many rows of segments fit on a screen; of more the line of all is shown.
_MOST_ROWS = 30
# So many of the cells outside of the scale are named at each end.
_NAMED = 3
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def value_rows(answer: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Of each cell that tells a value: segment, first and last key of its column, and the value."""
    for row in answer["rows"]:
        for column, number in zip(answer["columns"], row["values"], strict=True):
            if number is not None:
                yield [row["value"], column["first"], column["last"], number]


def value_lines(answer: Mapping[str, Any], width: int) -> Iterator[Text]:
    """What the value is, its scale, a row of blocks for each row of cells, and what is outside of the scale."""
    yield Text(_title(answer), style="bold")
    if answer["low"] is None:
        return
    rows: Sequence[tuple[str, Sequence[float | None]]] = [("", answer["line"])]
    if answer["down"] is not None and answer["row_count"] <= _MOST_ROWS:
        rows = [(row["value"], row["values"]) for row in answer["rows"]]
    label = max(len(name) for name, _ in rows)
    room = max(10, width - label - 1) if label else width
    for name, values in rows:
        line = Text(name.ljust(label) + " " if label else "")
        yield line.append_text(_blocks(answer, values, room))
    yield from _outside(answer)


def value_text(measure: str, number: float) -> str:
    """A *number* as people read it.

    :param measure: what it is in: ``number``, ``bytes`` or ``seconds``.
    """
    if measure == "seconds":
        return f"{number:,.1f} s"
    if measure == "number":
        return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.1f}"
    size, unit = float(number), 0
    while abs(size) >= 1_000 and unit < len(_UNITS) - 1:
        size, unit = size / 1_000, unit + 1
    return f"{size:,.0f} {_UNITS[unit]}" if size.is_integer() else f"{size:,.1f} {_UNITS[unit]}"


def _title(answer: Mapping[str, Any]) -> str:
    name = answer["value"].replace("_", " ")
    untold = f"; {answer['untold']:,} partitions tell none" if answer["untold"] else ""
    if answer["low"] is None:
        return f"{name}: no partition tells it"
    several = ""
    if any(column["count"] > 1 for column in answer["columns"]):
        several = f", the {answer['of_several']} of several partitions"
    low, high = (value_text(answer["measure"], answer[end]) for end in ("low", "high"))
    return f"{name}: {_BLOCKS[0]} {low} to {_BLOCKS[-1]} {high}{several}{untold}"


def _blocks(answer: Mapping[str, Any], values: Sequence[float | None], width: int) -> Text:
    """A row of characters that each stand for the same time; without time one for each column."""
    low, high = answer["low"], answer["high"]
    text = Text()
    for number in _spread(answer, values, width):
        if number is None:
            text.append(" ")
        elif number > high or number < low:
            text.append(_ABOVE if number > high else _BELOW, style="yellow")
        else:
            share = 1.0 if high == low else (number - low) / (high - low)
            text.append(_BLOCKS[min(len(_BLOCKS) - 1, int(share * len(_BLOCKS)))], style="green")
    return text


def _spread(answer: Mapping[str, Any], values: Sequence[float | None], width: int) -> Iterator[float | None]:
    """The values at *width* places along time; what is outside of the scale is not lost among others of its place."""
    columns = answer["columns"]
    if answer["start"] is None or not columns or "start" not in columns[0]:
        yield from values
        return
    low, high = (_seconds(answer[end]) for end in ("start", "end"))
    places: list[float | None] = [None] * width
    for column, number in zip(columns, values, strict=True):
        first, last = (int((_seconds(column[end]) - low) / (high - low) * width) for end in ("start", "end"))
        for i in range(first, min(width, max(last, first + 1))):
            here = places[i]
            if number is not None and (here is None or not answer["low"] <= number <= answer["high"]):
                places[i] = number
    yield from places


def _outside(answer: Mapping[str, Any]) -> Iterator[Text]:
    cells = [(number, first, segment) for segment, first, _, number in value_rows(answer)]
    above = sorted((cell for cell in cells if cell[0] > answer["high"]), key=lambda cell: -cell[0])
    below = sorted((cell for cell in cells if cell[0] < answer["low"]), key=lambda cell: cell[0])
    for mark, some in ((_ABOVE, above), (_BELOW, below)):
        if some:
            named = (
                f"{'|'.join(filter(None, (first, segment)))} {value_text(answer['measure'], number)}"
                for number, first, segment in some[:_NAMED]
            )
            more = f", and {len(some) - _NAMED:,} more" if len(some) > _NAMED else ""
            yield Text(f"{mark} {', '.join(named)}{more}", style="yellow")


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
