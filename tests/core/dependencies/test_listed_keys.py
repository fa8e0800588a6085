"""Keys as a list of texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_partitions.core.definitions import PartitionByInterval, PartitionByProduct, PartitionBySequence
from airflow_partitions.core.dependencies import Selection, listed_keys
from airflow_partitions.core.errors import InvalidKeyError

DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2013-04-01", name="date")
AIRPORT_DAYS = PartitionByProduct([DAYS, PartitionBySequence(["EWR", "JFK", "a|b"], name="airport")])
TEXTS = [*map(str, AIRPORT_DAYS.keys())]


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=30))
def test_eo6_a_list_means_its_keys_once_each_in_any_order(texts: list[str]) -> None:
    assert list(map(str, listed_keys(AIRPORT_DAYS, texts))) == sorted(set(texts), key=TEXTS.index)
    assert listed_keys(AIRPORT_DAYS, texts) == Selection.of(AIRPORT_DAYS, *texts)


@given(st.lists(st.sampled_from([*TEXTS[:3], "2013-01-01|LGA", "2013-01-32|JFK"]), min_size=1, max_size=12))
def test_eo6_the_first_wrong_keys_are_told_by_their_places(texts: list[str]) -> None:
    wrong = [place for place, text in enumerate(texts) if text not in TEXTS]
    if not wrong:
        listed_keys(AIRPORT_DAYS, texts)
        return
    with pytest.raises(InvalidKeyError) as refused:
        listed_keys(AIRPORT_DAYS, texts)
    for place in wrong[:3]:
        assert f"keys[{place}]: {texts[place]!r}" in str(refused.value) or f"keys[{place}]: " in str(refused.value)
    assert str(refused.value).count("keys[") == min(3, len(wrong))
