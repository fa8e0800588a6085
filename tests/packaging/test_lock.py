"""The lock file pins everything by hash and says nothing of where it was made."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
PINS = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", LOCK, flags=re.MULTILINE))


def test_no_address_and_no_path() -> None:
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted", LOCK)
    assert not re.search(r"(^|\s|@ )(file:|/|~|\.\.?/)", LOCK)


def test_every_pin_has_a_hash() -> None:
    entries = re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) > 100
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_declared_dependency_is_locked() -> None:
    declaration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = declaration["project"], declaration["dependency-groups"]
    declared = chain(project["dependencies"], *project["optional-dependencies"].values(), *groups.values())
    names = {re.split(r"[^\w.-]", line)[0].lower() for line in declared}
    assert names - set(PINS) == set()


def test_both_sparks_are_one_version() -> None:
    assert PINS["pyspark"] == PINS["pyspark-client"]
