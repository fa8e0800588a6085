"""What texts select, in cases that the view's own tests take, too: what it paints is what is selected here."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.definitions.definition_form import from_json
from airflow_partitions.core.dependencies import Selection, parse_selection, selection_text
from airflow_partitions.core.errors import InvalidKeyError, SelectionError

CASES = json.loads(Path(__file__).with_name("selection_cases.json").read_text())


def _of(case: dict[str, Any]) -> tuple[PartitionDefinition, datetime]:
    about = CASES["definitions"][case["of"]]
    return from_json(about["form"]), datetime.fromisoformat(about["now"])


def _name(case: dict[str, Any]) -> str:
    return f"{case['of']}: {case['text']}"


@pytest.mark.parametrize("case", CASES["cases"], ids=_name)
def test_ed7_a_text_selects_these_keys(case: dict[str, Any]) -> None:
    definition, now = _of(case)
    if "error" in case:
        with pytest.raises((SelectionError, InvalidKeyError)) as error:
            parse_selection(definition, case["text"], closed_by=now)
        assert case["error"] in str(error.value)
        return
    selection = parse_selection(definition, case["text"], closed_by=now)
    assert list(map(str, selection)) == case["keys"]
    assert selection_text(selection) == case["canonical"]
    assert parse_selection(definition, case["canonical"], closed_by=now) == selection


@pytest.mark.parametrize("case", CASES["painted"], ids=_name)
def test_ed7_what_the_view_writes_selects_what_was_painted(case: dict[str, Any]) -> None:
    definition, now = _of(case)
    painted = Selection.all(definition) if "all" in case else Selection.of(definition, *case["keys"])
    assert parse_selection(definition, case["text"], closed_by=now) == painted
