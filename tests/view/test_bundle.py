"""The bundle that is in the repository is what its sources make, and so is what they are generated from."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from airflow_partitions.view.apps import BUNDLES
from tests.view.bundle import ROOT, WWW, run
from tools.openapi import document_text

BUNDLE = "partitions.umd.js"
MOST_BYTES = 120_000


@pytest.fixture(scope="module", autouse=True)
def node_modules() -> None:
    run(str(ROOT / "tools" / "node_modules.sh"))


def test_the_openapi_document_is_that_of_the_app() -> None:
    assert document_text() == (WWW / "openapi.json").read_text(), "run `make view`"


def test_the_types_are_those_of_the_openapi_document(tmp_path: Path) -> None:
    run("openapi-typescript", "openapi.json", "--output", str(tmp_path / "schema.d.ts"))
    assert (tmp_path / "schema.d.ts").read_text() == (WWW / "src" / "rest" / "schema.d.ts").read_text(), "`make view`"


def test_the_parts_work() -> None:
    run("npm", "test")


def test_the_bundle_is_the_fresh_build_and_small(tmp_path: Path) -> None:
    run("vite", "build", "--outDir", str(tmp_path))
    built, kept = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in (tmp_path, BUNDLES))
    assert sorted(built) == ["icon-dark.svg", "icon.svg", BUNDLE]
    assert built == kept, "run `make view`, and commit airflow_partitions/view/dist"
    assert len(gzip.compress(built[BUNDLE])) < MOST_BYTES


def test_the_lock_file_says_nothing_of_where_it_was_made() -> None:
    assert '"resolved"' not in (WWW / "package-lock.json").read_text()
