"""The budgets of processor time are of parts and files that there are; what is used is told, not asserted."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.processor_time import BUDGETS

ROOT = Path(__file__).parents[1]


def test_each_part_has_a_budget_and_each_budget_a_file() -> None:
    budgets: dict[str, dict[str, int]] = json.loads(BUDGETS.read_text())
    (parts,) = re.findall(r"^PARTS = (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert sorted(budgets) == sorted(part.removeprefix("test-") for part in parts.split())
    for part, of_part in budgets.items():
        files = {file: seconds for file, seconds in of_part.items() if file != "all"}
        assert [file for file in files if not (ROOT / file).is_file()] == [], part
        assert sum(files.values()) <= of_part["all"], part
