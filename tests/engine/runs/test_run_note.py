"""What the note of a run says of its partition."""

from __future__ import annotations

import pytest

from airflow_partitions import Partition, PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.engine.runs.run_note import words

DAYS = PartitionByInterval("@daily", timezone="America/New_York", name="date")
HOURS = PartitionByInterval("@hourly", timezone="America/New_York", name="hour")
AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")


@pytest.mark.parametrize(
    ("definition", "key", "note"),
    [
        (DAYS, "2013-11-03", "2013-11-03 00:00 EDT to 2013-11-04 00:00 EST (America/New_York)"),
        (HOURS, "2013-11-03T01:00-05:00", "2013-11-03 01:00 to 2013-11-03 02:00 EST (America/New_York)"),
        (PartitionByInterval("@monthly"), "2013-02-01", "2013-02-01 00:00 to 2013-03-01 00:00 UTC"),
        (
            PartitionByProduct([DAYS, AIRPORTS]),
            "2013-02-08|JFK",
            "2013-02-08 00:00 to 2013-02-09 00:00 EST (America/New_York), airport JFK",
        ),
        (PartitionByProduct([AIRPORTS, PartitionBySequence([1, 2], name="shop")]), "JFK|2", "airport JFK, shop 2"),
    ],
)
def test_a18_a_note_says_the_partition_in_words(definition: PartitionDefinition, key: str, note: str) -> None:
    assert words(Partition(definition, key)) == f"Partition {key}: {note}"


def test_a18_a_segment_is_its_own_word() -> None:
    assert words(Partition(AIRPORTS, "JFK")) == "Partition JFK"
