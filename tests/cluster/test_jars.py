"""Jars that are fetched for the cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster import jars


def test_ev1_jars_are_kept_below_home_whatever_java_takes_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    words = jars.package_options([jars.PACKAGE])
    assert words[words.index("--conf") + 1] == f"spark.jars.ivy={tmp_path}/.ivy2.5.2"
