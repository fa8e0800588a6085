"""The reference has all public names, each once, and shows their arguments."""

from __future__ import annotations

import importlib
import re
from collections import Counter

import pytest

from tests.docs.pages import ROOT

NAMES = [
    name
    for page in sorted((ROOT / "docs/reference").glob("*.md"))
    for name in re.findall(r"^::: ([\w.]+)$", page.read_text(), re.MULTILINE)
]


def test_no_name_has_two_entries() -> None:
    assert [name for name, entries in Counter(NAMES).items() if entries > 1] == []


@pytest.mark.parametrize(
    "module", ["", ".checks", ".storage", ".frames", ".spark", ".spark.engines", ".authoring.local", ".testing"]
)
def test_every_public_name_has_an_entry(module: str) -> None:
    package = importlib.import_module(f"airflow_partitions{module}")
    public = {name for name in getattr(package, "__all__", ()) if name != "__version__"}
    public -= {"PartitionError"}  # stands among the errors
    assert public - {name.rpartition(".")[2] for name in NAMES} == set()


def test_every_error_has_an_entry() -> None:
    from airflow_partitions.core import errors

    members = re.findall(r"^ +- (\w+Error)$", (ROOT / "docs/reference/errors.md").read_text(), re.MULTILINE)
    assert members == [name for name in vars(errors) if name.endswith("Error")]
