"""What the disk and the files on it do wrong: told with dataset, partition and what to do."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import rmtree

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import DamagedError, DeniedError, FullError, ReplacedError, StorageError
from airflow_partitions.storage import Avro, Commit, Files, Parquet, compact, field
from airflow_partitions.storage.stores.open import open_staging

LETTERS = PartitionBySequence(["a", "b"], name="letter")
NUMBERS = pa.table({"n": pa.array(range(100), pa.int64())})
NOBODY = 65534


@pytest.fixture
def files() -> Iterator[Parquet]:
    """A dataset in a folder that everybody may look into."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    dataset = Parquet(f"{folder}/lake", partition=LETTERS, schema={"n": "bigint"})
    dataset.save({"a": NUMBERS, "b": NUMBERS})
    dataset.read(as_="pandas")  # what is imported for it may be hidden from others
    yield dataset
    rmtree(folder)


@contextmanager
def nobody() -> Iterator[None]:
    """Without the rights of root, who may do everything."""
    user = os.geteuid()
    if not user:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if not user:
            os.seteuid(user)


@contextmanager
def full(limit: int) -> Iterator[None]:
    """A disk that has no room for files beyond *limit* bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def file_of(files: Files, key: str) -> Path:
    partition = files.get(key)
    assert partition is not None
    return Path(partition.paths[0])


def test_a_folder_that_may_not_be_listed(files: Parquet) -> None:
    Path(files.path).chmod(0o700)
    with nobody(), pytest.raises(DeniedError, match=r"/lake' can't be listed: .*; expected permission") as error:
        list(files.list())
    assert isinstance(error.value.__cause__, PermissionError)
    assert isinstance(error.value, StorageError)
    Path(files.path).chmod(0o755)


def test_a_file_that_may_not_be_read(files: Parquet) -> None:
    file_of(files, "b").chmod(0o600)
    with nobody():
        assert len(files.read("a", "pandas")) == 100
        with pytest.raises(DeniedError, match=r"part-0.parquet of partition 'b' of .* can't be read as parquet: "):
            files.read(as_="pandas")


def test_a_folder_that_may_not_be_written(files: Parquet) -> None:
    with nobody(), pytest.raises(StorageError, match=r"storage .*/lake' can't be written"):
        files.save({"a": NUMBERS}, mode="overwrite")
    with nobody(), pytest.raises(StorageError, match="can't be written"):
        open_staging(files, Commit.anyone())


def test_a_full_disk_publishes_nothing(files: Parquet) -> None:
    before = files.read(as_="arrow")
    big = pa.table({"n": pa.array(range(100_000), pa.int64())})
    with full(50_000), pytest.raises(FullError, match=r"partition 'b' of .* can't be written: .*make room") as error:
        files.save({"a": NUMBERS, "b": lambda: big}, mode="overwrite")
    assert isinstance(error.value.__cause__, OSError)
    commit = Commit(files)
    (commit.stage("a") / "0.parquet").touch()
    commit.put("a", mode="overwrite")
    with full(0), pytest.raises(FullError, match=r"partition 'a' of .* can't be published"), commit:
        pass
    assert files.read(as_="arrow") == before
    files.save({"a": NUMBERS, "b": big}, mode="overwrite")
    assert len(files.read("b", "arrow")) == 100_000


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 kB."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", tmp_path]
    if os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("file systems can't be mounted here")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def test_no_space_left_on_the_device(small: Path) -> None:
    files = Parquet(f"{small}/lake", partition=LETTERS)
    files.save({"a": NUMBERS})
    big = pa.table({"n": pa.array(range(100_000), pa.int64())})
    with pytest.raises(FullError, match=r"partition 'b' of .* can't be written: .*No space left on device.*make room"):
        files.save({"a": NUMBERS, "b": big}, mode="overwrite")
    assert len(files.read(as_="arrow")) == 100
    files.save({"b": NUMBERS})  # nothing of the other try takes room


@pytest.mark.parametrize("damage", ["no parquet", "cut", "pages"])
def test_a_damaged_file_is_named_with_its_partition(files: Parquet, damage: str) -> None:
    file = file_of(files, "b")
    data = file.read_bytes()
    damaged = {"no parquet": b"hello", "cut": data[:-20], "pages": data[:4] + b"\xff" * 100 + data[104:]}[damage]
    file.write_bytes(damaged)
    with pytest.raises(DamagedError, match=r"of partition 'b' of .*/lake' can't be read as parquet: .*; restore") as e:
        files.read(as_="pandas")
    assert e.value.__cause__ is not None
    assert len(files.read("a", "pandas")) == 100
    lazily = files.load(as_="arrow")
    with pytest.raises(DamagedError, match="partition 'b'"):
        lazily["b"]()


def test_a_damaged_file_without_a_declared_schema(tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "lake"), partition=LETTERS, ownership="read-only")
    folder = tmp_path / "lake" / "letter=a"
    folder.mkdir(parents=True)
    (folder / "0.parquet").write_bytes(b"PAR1 hello PAR1")
    with pytest.raises(DamagedError, match=r"0.parquet of partition 'a' of .* can't be read as parquet"):
        files.read(as_="arrow")


def test_a_damaged_avro_file(tmp_path: Path) -> None:
    files = Avro(str(tmp_path / "lake"), partition=LETTERS, schema={"n": "bigint"})
    files.save({"a": NUMBERS})
    file_of(files, "a").write_bytes(b"hello")
    with pytest.raises(DamagedError, match=r"part-0.avro of partition 'a' of .* can't be read as avro"):
        files.read(as_="arrow")


def test_a_file_that_was_replaced_while_it_was_read(files: Parquet) -> None:
    load = files.load(field("letter") == "b", as_="pandas")["b"]
    assert len(load()) == 100  # what there is was looked up
    files.save({"b": NUMBERS}, mode="overwrite")
    file_of(files, "b").rename(f"{files.path}/_away")
    with pytest.raises(
        ReplacedError, match=r"part-0.parquet of partition 'b' of .* it was replaced .* read again"
    ) as e:
        load()
    assert isinstance(e.value.__cause__, FileNotFoundError)


def test_a_damaged_file_is_left_by_compaction(files: Parquet) -> None:
    with Commit(files) as commit:
        for name in ("1", "2"):
            parquet.write_table(NUMBERS, str(commit.stage("a") / f"{name}.parquet"))
        commit.put("a", mode="overwrite")
    file_of(files, "a").write_bytes(b"hello")
    with pytest.raises(DamagedError, match=r"partition 'a' of .* can't be compacted"):
        compact(files, "a", settled=timedelta(0), now=datetime(2100, 1, 1, tzinfo=UTC))
