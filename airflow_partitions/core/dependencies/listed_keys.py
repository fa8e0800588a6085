"""Keys as people have them: a list of texts, from a ticket or another system."""

from __future__ import annotations

from collections.abc import Sequence

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.dependencies.selection import Selection
from airflow_partitions.core.errors import InvalidKeyError

#: So many wrong keys are told at once.
_TOLD = 3


def listed_keys(definition: PartitionDefinition, texts: Sequence[str]) -> Selection:
    """The keys of *definition* with these *texts*; one that is listed twice is one.

    :raises InvalidKeyError: if some are none: tells the first of them by their places in the list, counted from 0, each
        with what was expected and the nearest.
    """
    boxes: list[Box] = []
    wrong: dict[int, InvalidKeyError] = {}
    for place, text in enumerate(texts):
        try:
            boxes.append(Box.of(definition, text))
        except InvalidKeyError as error:
            wrong[place] = error
            if len(wrong) == _TOLD:
                break
    if wrong:
        first = next(iter(wrong.values()))
        words = "; ".join(f"keys[{place}]: {error}" for place, error in wrong.items())
        raise InvalidKeyError(words, given=first.given, nearest=first.nearest)
    return Selection(definition, tuple(boxes))
