"""Tables in a folder are found by their metadata, whatever became of the hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_partitions.core.errors import ResultError
from airflow_partitions.storage.iceberg.table.shadow import Shadow
from airflow_partitions.storage.iceberg.table.static_metadata import version_of
from tests.storage.iceberg.tables import DAYS, Try, rows_of, store_of


@pytest.mark.parametrize("hint", ["1", None])
def test_what_was_written_is_found_although_the_hint_was_not(tmp_path: Path, hint: str | None) -> None:
    work = Try.begin(store_of(tmp_path, DAYS))
    folder = work.staging.data
    assert isinstance(folder, Path)
    Shadow.open(folder).append(rows_of(DAYS, "2013-01-01", [1, 2]))
    file = folder / "metadata/version-hint.text"
    if hint is None:
        file.unlink()
    else:
        file.write_text(hint)
    assert version_of(folder) == 2
    assert Shadow.open(folder).rows == 2


def test_a_folder_without_a_table_is_told(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="expected the staging folder of a try"):
        Shadow.open(tmp_path)
