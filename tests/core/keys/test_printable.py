"""Which texts can be keys."""

from __future__ import annotations

import pytest

from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionBySequence
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys.printable import is_printable

JOINED = ["\U0001f469\U0001f3fd\u200d\U0001f680", "\u2764\ufe0f\u200d\U0001f525", "\u0dc1\u0dca\u200d\u0dbb\u0dd3"]
UNSEEN = ["a\u200db", "\u200d\U0001f680", "\U0001f469\u200d", "\U0001f469\u200d\u200d\U0001f680", "a\u200bb", "a\tb"]


@pytest.mark.parametrize("text", JOINED)
def test_eo16_joined_emoji_are_keys_of_all_definitions_alike(text: str) -> None:
    assert is_printable(f"crew {text}!")
    assert str(PartitionBySequence([text, "a"]).parse(text)) == text
    assert str(PartitionAtRuntime(name="crews").parse(text)) == text


@pytest.mark.parametrize("text", UNSEEN)
def test_eo16_what_nobody_sees_is_in_no_key(text: str) -> None:
    assert not is_printable(text)
    with pytest.raises(InvalidKeyError, match="expected printable text"):
        PartitionBySequence([text, "a"])
    with pytest.raises(InvalidKeyError, match="expected printable text"):
        PartitionAtRuntime(name="crews").parse(text)
