"""The workflows do what one does by hand: they call targets of the Makefile, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):.* ## ", MAKEFILE, re.MULTILINE))
PARTS = set(re.search(r"^PARTS = (.+)$", MAKEFILE, re.MULTILINE)[1].split())  # type: ignore[index]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def jobs(workflow: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load(workflow.read_text())["jobs"].values())


def test_there_are_workflows() -> None:
    assert [workflow.stem for workflow in WORKFLOWS] == ["docs", "lint", "matrix", "release", "tests"]


def test_the_workflows_are_what_the_forge_reads() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS]
    process = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert process.returncode == 0, process.stdout


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.stem)
def test_steps_are_targets_that_there_are(workflow: Path) -> None:
    for job in jobs(workflow):
        choices = job.get("strategy", {}).get("matrix", {})
        for command in (step["run"] for step in job["steps"] if "run" in step):
            make, target = command.split(maxsplit=1)
            chosen = re.fullmatch(r"\$\{\{ matrix\.(\w+) \}\}", target)
            assert make == "make"
            assert set(choices[chosen[1]] if chosen else [target]) <= TARGETS | PARTS


def test_every_part_of_the_tests_is_run() -> None:
    (parts,) = [
        job["strategy"]["matrix"]["part"] for job in jobs(ROOT / ".github/workflows/tests.yml") if "strategy" in job
    ]
    assert set(parts) == PARTS


def test_what_is_run_before_a_commit_are_targets() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert {hook["entry"].removeprefix("make ") for hook in hooks} <= TARGETS
