"""What a consumer does not take."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from airflow_partitions.core.errors import (
    CheckpointError,
    InvalidDefinitionError,
    StorageError,
)
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.consumers.consumer import Consumer
from tests.storage.consumers.lake import DAYS, state


class TestRefused:
    def test_the_checkpoint_of_another_dataset(self, files: Parquet, tmp_path: Path) -> None:
        shared = f"{tmp_path}/state"
        Consumer(files, state=shared).take().confirm()
        other = Parquet(f"{tmp_path}/other", partition=DAYS)
        with pytest.raises(CheckpointError, match=r"is the checkpoint of '.*/lake', not of '.*/other'; give state="):
            Consumer(other, state=shared).take()

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", "null ", "3", "[" * 100_000, '{"version": 2}', '{"version": 1, "dataset": 3}'],
    )
    def test_a_damaged_checkpoint(self, files: Parquet, text: str) -> None:
        Consumer(files).take().confirm()
        state(files).write_text(text)
        for use in (lambda c: c.take(), lambda c: c.pending(), lambda c: c.confirm("x"), lambda c: c.checkpoint):
            with pytest.raises(CheckpointError, match=r"consumers/default' is no checkpoint.*restore it"):
                use(Consumer(files))
        assert state(files).read_text() == text

    @pytest.mark.parametrize("part", ["dataset", "watermark", "consumed", "returned", "leases", "confirmed", "version"])
    @pytest.mark.parametrize("value", [5, [5], {"a": 5}, False])
    def test_a_damaged_part(self, files: Parquet, part: str, value: object) -> None:
        Consumer(files).take().confirm()
        form = json.loads(state(files).read_text())
        state(files).write_text(json.dumps(form | {part: value}))
        with pytest.raises(CheckpointError):
            Consumer(files).take()

    @pytest.mark.parametrize(
        "lease",
        [
            {},
            {"holder": "h", "until": "2013-01-01T00:00:00", "partitions": []},
            {"holder": "h", "until": "soon", "partitions": []},
            {"holder": "h", "until": "2013-01-01T00:00:00+00:00", "partitions": 3},
        ],
    )
    def test_a_damaged_lease(self, files: Parquet, lease: object) -> None:
        Consumer(files).take().confirm()
        form = json.loads(state(files).read_text())
        state(files).write_text(json.dumps(form | {"leases": {"x": lease}}))
        with pytest.raises(CheckpointError):
            Consumer(files).take()

    def test_external_data_without_a_place_for_the_state(self, files: Parquet, tmp_path: Path) -> None:
        external = Parquet(files.path, partition=DAYS, ownership="read-only")
        with pytest.raises(InvalidDefinitionError, match="nothing is written there; give state="):
            Consumer(external)
        before = sorted(Path(files.path).rglob("*"))
        Consumer(external, state=f"{tmp_path}/state").take().confirm()
        assert sorted(Path(files.path).rglob("*")) == before

    def test_settings(self, files: Parquet) -> None:
        with pytest.raises(InvalidDefinitionError, match="no setting 'comparison'; nearest: 'comparison_func'"):
            Consumer(files, checkpoint={"comparison": "operator.gt"})
        with pytest.raises(InvalidDefinitionError, match=r"'operator\.nothing' can't be imported"):
            Consumer(files, checkpoint={"comparison_func": "operator.nothing"})
        with pytest.raises(InvalidDefinitionError, match="expected a function"):
            Consumer(files, checkpoint={"comparison_func": "sys.path"})
        with pytest.raises(InvalidDefinitionError, match=r"'\.\./x' can't be a file name"):
            Consumer(files, "../x")
        with pytest.raises(InvalidDefinitionError, match="is over before it begins"):
            Consumer(files, lease=timedelta(0))

    def test_a_place_that_can_not_be_written(self, files: Parquet, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(StorageError):
            Consumer(files, state=f"{tmp_path}/file/below").take()
