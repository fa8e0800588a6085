"""Selections in words: ranges with both their ends, for people."""

from __future__ import annotations

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.dependencies.selection import Selection

#: So many characters are shown.
MOST = 200


def selection_words(selection: Selection, most: int = MOST) -> str:
    """A *selection* in words, cut where it is long: ``2013-03-01 to 2013-03-03``, which are three days.

    Other than in the text of a selection, the last one is part of it.

    :param most: so many characters are shown.
    """
    words: list[str] = []
    for box in selection.written:
        if len(Selection(selection.definition, (box,))):
            words.append(_words(selection.definition, box))
        if sum(map(len, words)) > most:
            break
    text = "; ".join(words)
    return text if len(text) <= most else f"{text[:most]}…"


def _words(definition: PartitionDefinition, box: Box) -> str:
    parts = [
        f"{name} {', '.join(segment.text for segment in segments)}" if len(definition.dimensions) > 1
        else ", ".join(segment.text for segment in segments)
        for name, segments in box.segments.items()
    ]  # fmt: skip
    time = definition.time
    if time is not None and box.time_range is not None:
        low, high = box.time_range
        first, last = time.interval_at(low), time.interval_at(high - 1)
        parts.insert(0, str(first) if first == last else f"{first} to {last}")
    return " of ".join([parts[0], ", ".join(parts[1:])] if len(parts) > 1 else parts or ["all"])
