"""CDAP's PartitionedFileSet: a partition key is a name for a path. Rows C1 to C7, C9, C11 and C12 of the list."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from airflow_partitions import PartitionByProduct, PartitionBySequence
from airflow_partitions.core.errors import (
    ConflictError,
    InvalidDefinitionError,
    InvalidKeyError,
    NotStoredError,
    ResultError,
    SchemaError,
    StorageError,
    StoredError,
)
from airflow_partitions.storage import Column, Files, field
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, names, remove, sizes
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.scan.snapshot import inventory, snapshot

#: Only there is a log by default; on a local disk a folder that is there is a partition.
ON_S3 = pytest.mark.parametrize("root", ["s3"], indirect=True)

RESULTS = PartitionByProduct(
    [
        PartitionBySequence(["nfl", "nba"], name="league"),
        PartitionBySequence(list(range(1975, 1995)), name="season"),
    ]
)


def results(root: str, **options: Any) -> Files:
    return Files(
        root,
        format="text",
        partition=RESULTS,
        partition_on={"league": "{league}", "season": Column("{season}", "int")},
        **options,
    )


def write(files: Files, key: str, text: str, *, mode: str = "create", name: str = "part-0", **more: Any) -> None:
    with Commit(files) as commit:
        (commit.stage(key) / name).write_text(text)
        commit.put(key, mode=mode, **more)


def write_seasons(files: Files, seasons: Iterable[int]) -> None:
    with Commit(files) as commit:
        for season in seasons:
            (commit.stage(f"nfl|{season}") / "part-0").write_text("new")
            commit.put(f"nfl|{season}")


def lines(files: Files, key: str) -> list[str]:
    partition = files.get(key)
    assert partition is not None
    return sorted(line for path in partition.paths for line in at(path).read_text().split())


def keys(files: Files) -> list[str]:
    return [str(partition.key) for partition in inventory(files)]


def test_c1_fields_are_declared_and_typed(root: str) -> None:
    files = results(root)
    write(files, "nfl|1982", "a")
    (partition,) = inventory(files)
    assert partition.key == RESULTS.parse("nfl|1982")
    assert partition.values == {"league": "nfl", "season": "1982"}
    with pytest.raises(InvalidKeyError, match="season"):
        files.get({"league": "nfl"})
    with pytest.raises(InvalidKeyError, match=r"nearest|expected"):
        files.get({"league": "nhl", "season": 1982})


def test_c2_one_partition_by_key_or_none(root: str) -> None:
    files = results(root)
    write(files, "nfl|1982", "a\nb")
    assert lines(files, "nfl|1982") == ["a", "b"]
    assert files.get("nfl|1983") is None
    assert files.exists("nfl|1982")
    assert not files.exists("nba|1982")


def test_c3_equality_and_half_open_ranges(root: str) -> None:
    files = results(root)
    for key in ("nfl|1979", "nfl|1980", "nfl|1989", "nfl|1990", "nba|1985"):
        write(files, key, key)
    eighties = (field("league") == "nfl") & field("season").between(1980, 1990)
    assert [str(key) for key in files.get_many(eighties)] == ["nfl|1980", "nfl|1989"]
    assert [str(key) for key in files.get_many(field("season").between(None, 1980))] == ["nfl|1979"]
    assert [str(key) for key in files.get_many(field("season").between(1990, None))] == ["nfl|1990"]


def test_c4_what_is_written_is_not_visible_before_it_is_registered(root: str) -> None:
    files = results(root)
    with Commit(files) as commit:
        (commit.stage("nfl|1982") / "part-0").write_text("a")
        assert keys(files) == []
        commit.put("nfl|1982")
        assert keys(files) == []
    assert keys(files) == ["nfl|1982"]
    commit = Commit(files)
    commit.stage("nfl|1983")
    with pytest.raises(ResultError, match=r"no file|no folder"):
        commit.put("nfl|1983")


def test_c6_all_new_partitions_are_registered_together_or_none(root: str) -> None:
    files = results(root)
    write(files, "nfl|1982", "old")
    with pytest.raises(StoredError, match=r"'nfl\|1982' is stored already"):
        write_seasons(files, range(1980, 1990))
    assert keys(files) == ["nfl|1982"]
    assert lines(files, "nfl|1982") == ["old"]
    write_seasons(files, range(1983, 1990))
    assert len(keys(files)) == 8


def test_c7_create_append_and_overwrite(root: str) -> None:
    files = results(root)
    write(files, "nfl|1982", "a", mode="append")
    with pytest.raises(StoredError, match="expected none, or mode='append' or 'overwrite'"):
        write(files, "nfl|1982", "b")
    write(files, "nfl|1982", "b", mode="append")
    assert lines(files, "nfl|1982") == ["a", "b"]
    write(files, "nfl|1982", "c", mode="overwrite")
    assert lines(files, "nfl|1982") == ["c"]
    write(files, "nba|1982", "d", mode="overwrite")
    assert lines(files, "nba|1982") == ["d"]
    with pytest.raises(InvalidDefinitionError, match="expected one of: create, append, overwrite"):
        write(files, "nba|1982", "d", mode="add")


def test_c7_a_run_that_is_tried_again_appends_once(root: str) -> None:
    files = results(root)
    write(files, "nfl|1982", "first")
    for number in (1, 2, 3):
        with Commit(files, Attempt("dag", "run", number)) as commit:
            (commit.stage("nfl|1982") / "part-0").write_text(f"try{number}")
            commit.put("nfl|1982", mode="append")
    assert lines(files, "nfl|1982") == ["first", "try3"]


def test_c7_what_is_appended_first_has_an_index_too(root: str) -> None:
    files = attrs.evolve(results(root), schema={"value": "string"}, index=["value"])
    for value in ("a", "b"):
        write(files, "nfl|1982", value, mode="append")
    partition = files.get("nfl|1982")
    assert partition is not None
    names = partition.metadata["index"]["value"]["files"]
    assert {value: [name in partition.files for name in indexed] for value, indexed in names.items()} == {
        "a": [True],
        "b": [True],
    }


def test_c9_metadata_of_each_partition(root: str) -> None:
    files = results(root)
    attempt = Attempt("sports", "manual", 1)
    with Commit(files, attempt) as commit:
        (commit.stage("nfl|1982") / "part-0").write_text("a\nb")
        commit.put("nfl|1982", rows=2, user={"source": "wire", "size": 3})
    (partition,) = inventory(files)
    assert (partition.rows, partition.bytes, len(partition.files)) == (2, 3, 1)
    assert partition.metadata["user"] == {"source": "wire", "size": 3}
    assert partition.metadata["attempt"] == attempt.to_json()
    assert partition.metadata["published"]
    write(files, "nfl|1982", "c", mode="append", rows=1, user={"size": 4})
    (partition,) = inventory(files)
    assert (partition.rows, partition.bytes, len(partition.files)) == (3, 4, 2)
    assert partition.metadata["user"] == {"source": "wire", "size": 4}


def foreign(root: str) -> None:
    """Partitions made by someone else."""
    for season in (1980, 1981):
        folder = at(f"{root}/league=nfl/season={season}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "theirs").write_text(str(season))


def test_c11_external_data_is_only_read(root: str) -> None:
    foreign(root)
    files = results(root, ownership="read-only")
    assert keys(files) == ["nfl|1980", "nfl|1981"]
    assert lines(files, "nfl|1980") == ["1980"]
    with pytest.raises(InvalidDefinitionError, match="has ownership='read-only', so it is never written"):
        Commit(files)


def test_c11_partitions_of_external_data_are_added_and_dropped_without_touching_files(root: str) -> None:
    foreign(f"{root}/theirs")
    before = sizes(at(f"{root}/theirs"))
    files = results(f"{root}/theirs", ownership="read-only", log=f"{root}/ours")
    assert keys(files) == []
    with Commit(files) as commit:
        commit.add("nfl|1980", "league=nfl/season=1980", user={"by": "wire"})
        commit.add("nba|1990", f"{root}/theirs/league=nfl/season=1981")
    assert keys(files) == ["nba|1990", "nfl|1980"]
    assert lines(files, "nba|1990") == ["1981"]
    with Commit(files) as commit:
        commit.drop("nba|1990")
    assert keys(files) == ["nfl|1980"]
    with pytest.raises(InvalidDefinitionError, match="read-only"), Commit(files) as commit:
        commit.stage("nfl|1982")
    with Commit(files) as commit:
        commit.drop()
    assert keys(files) == []
    assert sizes(at(f"{root}/theirs")) == before


@pytest.mark.parametrize("mode", ["add-only", "adopted"])
def test_c11_existing_data(root: str, mode: str) -> None:
    foreign(root)
    files = results(root, ownership=mode)
    assert keys(files) == ["nfl|1980", "nfl|1981"]
    write(files, "nfl|1982", "new")
    assert keys(files) == ["nfl|1980", "nfl|1981", "nfl|1982"]
    with Commit(files) as commit:
        commit.drop()
    assert keys(files) == []
    clean(files, now=datetime.now(UTC) + timedelta(days=8))
    names = [*sizes(at(root))]
    kept = ["league=nfl/season=1980/theirs", "league=nfl/season=1981/theirs"]
    assert names == (kept if mode == "add-only" else [])


@ON_S3
def test_c11_data_of_others_is_not_taken_over_unasked(root: str) -> None:
    foreign(root)
    files = results(root)
    with pytest.raises(StorageError, match="expected ownership='add-only'"):
        write(files, "nfl|1982", "new")
    assert keys(files) == ["nfl|1980", "nfl|1981"]


def test_c12_a_failure_removes_what_was_written_and_restores_what_was_dropped(root: str) -> None:
    files = results(root)
    for key in ("nfl|1980", "nfl|1981"):
        write(files, key, key)
    before = snapshot(files)

    def fail() -> None:
        with Commit(files) as commit:
            commit.drop("nfl|1980")
            (commit.stage("nfl|1990") / "part-0").write_text("new")
            commit.put("nfl|1990")
            raise RuntimeError("the surrounding work failed")

    with pytest.raises(RuntimeError):
        fail()
    assert {d: p.paths for d, p in snapshot(files).items()} == {d: p.paths for d, p in before.items()}
    assert not [name for name in sizes(at(root)) if "1990" in name]
    commit = Commit(files)
    commit.drop("nfl|1980")
    commit.drop("nba|1980")
    with pytest.raises(NotStoredError, match="nba"), commit:
        pass
    assert keys(files) == ["nfl|1980", "nfl|1981"]


def test_c12_files_added_from_elsewhere_stay_when_the_commit_fails(root: str) -> None:
    foreign(f"{root}/theirs")
    files = results(f"{root}/theirs", ownership="add-only", log=f"{root}/ours")
    before = sizes(at(f"{root}/theirs"))

    def fail() -> None:
        with Commit(files) as commit:
            commit.add("nba|1990", "league=nfl/season=1981")
            raise RuntimeError("the surrounding work failed")

    with pytest.raises(RuntimeError):
        fail()
    assert sizes(at(f"{root}/theirs")) == before


def test_truncated_partitions_stay_without_rows(root: str) -> None:
    files = results(root)
    write(files, "nfl|1982", "a")
    write(files, "nfl|1983", "a")
    with Commit(files) as commit:
        commit.truncate("nfl|1982")
    season = files.get("nfl|1982")
    assert season is not None
    assert (season.rows, dict(season.files)) == (0, {})
    with Commit(files) as commit:
        commit.truncate()
    assert keys(files) == ["nfl|1982", "nfl|1983"]
    assert all(not partition.files for partition in inventory(files))


def test_the_schema_is_checked_on_every_write(root: str) -> None:
    files = results(root)
    write(files, "nfl|1980", "a", schema={"winner": "string", "points": "int"})
    with pytest.raises(SchemaError, match=r"'points' is string, not int; 'date' is new; expected the columns"):
        write(files, "nfl|1981", "a", schema={"winner": "string", "points": "string", "date": "date"})
    with pytest.raises(SchemaError, match="'points' is missing"):
        write(files, "nfl|1981", "a", schema={"winner": "string"})
    with Commit(files, evolve=True) as commit:
        (commit.stage("nfl|1981") / "part-0").write_text("a")
        commit.put("nfl|1981", schema={"winner": "string", "points": "bigint", "date": "date"})
    write(files, "nfl|1982", "a", schema={"winner": "string", "points": "bigint", "date": "date"})
    commit = Commit(files, evolve=True)
    (commit.stage("nfl|1983") / "part-0").write_text("a")
    commit.put("nfl|1983", schema={"winner": "string", "points": "string", "date": "date"})
    with pytest.raises(SchemaError, match="'points' is string, not bigint"), commit:
        pass
    declared = attrs.evolve(files, schema={"winner": "string"})
    with pytest.raises(SchemaError, match="expected the columns winner string"):
        write(declared, "nfl|1983", "a", schema={"winner": "int"})


def test_two_writers_of_one_partition(root: str) -> None:
    files = results(root)
    write(files, "nfl|1980", "old")
    slow, quick = Commit(files), Commit(files)
    for commit, text in ((slow, "slow"), (quick, "quick")):
        (commit.stage("nfl|1980") / "part-0").write_text(text)
        commit.put("nfl|1980", mode="overwrite")
    with quick:
        pass
    with pytest.raises(ConflictError, match=r"was published by .* after .* had begun; nothing was changed"), slow:
        pass
    assert lines(files, "nfl|1980") == ["quick"]


@ON_S3
@pytest.mark.parametrize(
    ("damage", "told"),
    [("{", "is damaged"), ('{"version": 2}', "json has version 2; expected 1"), ("[]", "is damaged")],
)
def test_a_damaged_log_is_named(root: str, damage: str, told: str) -> None:
    files = results(root)
    write(files, "nfl|1980", "a")
    write(files, "nfl|1981", "a")
    (bookkeeping(at(root)) / "log" / f"{2:020}.json").write_text(damage)
    with pytest.raises(StorageError, match=told):
        keys(files)


@ON_S3
def test_a_gap_in_the_log_is_named(root: str) -> None:
    files = results(root)
    for season in (1980, 1981, 1982):
        write(files, f"nfl|{season}", "a")
    remove(bookkeeping(at(root)) / "log" / f"{2:020}.json")
    with pytest.raises(StorageError, match="has gaps"):
        keys(files)


@ON_S3
def test_the_log_is_summed_up(root: str) -> None:
    files = results(root)
    for season in range(1975, 1995):
        write(files, f"nfl|{season}", "a")
    write(files, "nba|1980", "a")
    assert len(keys(files)) == 21
    assert f"{20:020}.checkpoint.json" in names(bookkeeping(at(root)) / "log")


def test_a_writer_who_may_not_write(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if root.startswith("s3"):
        files = results(root.replace("s3://lake/", "s3://no-such-bucket/"))
    else:
        files = results(f"{Path(root)}/missing/parent")
    with pytest.raises(StorageError, match="can't be written"):
        Commit(files)


@ON_S3
def test_marks_of_folders_are_no_files(root: str) -> None:
    files = results(root)
    commit = Commit(files)
    place = commit.stage("nfl|1980")
    place.fs.pipe_file(f"{place.path}/", b"")
    place.fs.pipe_file(f"{place.path}-left/", b"")
    (place / "part-0").write_text("a")
    with commit:
        commit.put("nfl|1980")
    (partition,) = inventory(files)
    assert [name.rpartition("/")[2] for name in partition.files] == ["part-0"]
    removed = clean(files, now=datetime.now(UTC) + timedelta(days=8))
    assert [str(path) for path in removed] == [f"{place}-left"]
    assert lines(files, "nfl|1980") == ["a"]
