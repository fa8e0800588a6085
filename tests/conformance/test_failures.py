"""What goes wrong with an S3 store: told with dataset and what to do, whoever asks."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.request import Request, urlopen

import attrs
import pyarrow as pa
import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import (
    DamagedError,
    DeniedError,
    MissingStoreError,
    ReplacedError,
    StorageError,
    UnreachableError,
)
from airflow_partitions.storage import Commit, Consumer, Files, Parquet, clean, compact
from airflow_partitions.storage.filesystem.filesystem import at, remove
from airflow_partitions.storage.scan.snapshot import inventory
from airflow_partitions.storage.stores.open import open_staging

LETTERS = PartitionBySequence(["a", "b"], name="letter")
NUMBERS = pa.table({"n": pa.array([1, 2, 3], pa.int64())})


def _add(files: Files) -> None:
    with Commit(files) as commit:
        commit.add("b", "somewhere")


#: Whatever can be asked of a dataset.
ACTIONS: dict[str, Callable[[Files], Any]] = {
    "list": lambda files: list(files.list()),
    "get": lambda files: files.get("a"),
    "read": lambda files: files.read(as_="pandas"),
    "load": lambda files: files.load("a", as_="arrow"),
    "freeze": lambda files: files.freeze("run"),
    "commit": Commit,
    "save": lambda files: files.save({"a": NUMBERS}, mode="overwrite"),
    "staging": lambda files: open_staging(files, Commit.anyone(), "letter=a"),
    "compact": lambda files: compact(files, settled=timedelta(0)),
    "clean": clean,
    "consume": lambda files: Consumer(files, "c").take(),
    "add": _add,
}


@pytest.fixture
def files(server: Any) -> Parquet:
    dataset = Parquet(f"s3://lake/{uuid.uuid4().hex}", partition=LETTERS, schema={"n": "bigint"})
    dataset.save({"a": NUMBERS})
    return dataset


def with_credentials(files: Parquet, **credentials: Any) -> Parquet:
    return attrs.evolve(files, credentials=credentials)


@contextmanager
def guarded(server: Any) -> Iterator[None]:
    """A store that looks at credentials."""

    def look_from(request: str) -> None:
        urlopen(Request(f"{server.url}/moto-api/reset-auth", request.encode(), {"Content-Type": "text/plain"})).close()

    look_from("0")
    try:
        yield
    finally:
        look_from("inf")


def check(action: Callable[[Files], Any], files: Files, kind: type[StorageError], message: str) -> None:
    with pytest.raises(kind, match=message) as error:
        action(files)
    assert files.path in str(error.value)
    assert error.value.__cause__ is not None


@pytest.mark.parametrize("action", ACTIONS.values(), ids=ACTIONS)
class TestEveryAction:
    def test_a_store_that_does_not_answer(self, files: Parquet, action: Callable[[Files], Any]) -> None:
        down = with_credentials(
            files, endpoint_url="http://127.0.0.1:9", config_kwargs={"retries": {"max_attempts": 0}}
        )
        check(action, down, UnreachableError, "Could not connect.*; check endpoint_url and the network")

    def test_no_credentials(
        self, server: Any, files: Parquet, action: Callable[[Files], Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        unknown = with_credentials(files, endpoint_url=server.url, skip_instance_cache=True)
        check(action, unknown, DeniedError, r"expected credentials=\{'key': …, 'secret': …\}")

    def test_wrong_credentials(self, server: Any, files: Parquet, action: Callable[[Files], Any]) -> None:
        wrong = with_credentials(files, key="wrong", secret="wrong")
        with guarded(server):
            check(action, wrong, DeniedError, r"; expected (others: credentials=|permission)")

    def test_a_bucket_that_is_missing(self, files: Parquet, action: Callable[[Files], Any]) -> None:
        missing = attrs.evolve(files, path=files.path.replace("s3://lake/", "s3://no-such-bucket/"))
        check(action, missing, MissingStoreError, "make the bucket, or correct the path")


def test_credentials_that_allow_nothing(server: Any, files: Parquet) -> None:
    import boto3

    user = boto3.client("iam", endpoint_url=server.url)
    user.create_user(UserName="guest")
    access_key = user.create_access_key(UserName="guest")["AccessKey"]
    guest = with_credentials(files, key=access_key["AccessKeyId"], secret=access_key["SecretAccessKey"])
    with guarded(server):
        check(lambda files: files.read(as_="pandas"), guest, DeniedError, "Access ?Denied.*; expected permission")


def test_a_missing_bucket_of_the_log_alone(files: Parquet) -> None:
    apart = attrs.evolve(files, ownership="read-only", log="s3://no-such-bucket/log")
    check(lambda files: list(inventory(files)), apart, MissingStoreError, "can't be listed: .*make the bucket")


@pytest.mark.parametrize("damage", [b"hello", b"PAR1 hello PAR1"])
def test_a_damaged_file(files: Parquet, damage: bytes) -> None:
    (partition,) = files.list()
    at(partition.paths[0]).write_bytes(damage)
    check(lambda files: files.read(as_="pandas"), files, DamagedError, r"parquet of partition 'a' of .*; restore")


def test_a_file_that_was_removed_while_it_was_read(files: Parquet) -> None:
    load = files.load(as_="arrow")["a"]
    assert len(load()) == 3
    (partition,) = files.list()
    remove(at(partition.paths[0]))
    check(lambda _: load(), files, ReplacedError, r"of partition 'a' of .* it was replaced or removed .*: read again")


@pytest.mark.parametrize("action", ["save", "freeze", "consume"])
def test_an_answer_that_gets_lost_is_asked_for_again(server: Any, files: Parquet, action: str) -> None:
    """The request is repeated, and its object is there by then."""
    writes, lost = server.writes, 0
    try:
        while writes.count >= max(writes.unanswered, default=0):
            number = writes.count + lost + 1
            writes.unanswered = {number}
            ACTIONS[action](files)
            lost += 1
    finally:
        writes.unanswered = set()
    assert lost > 1
    assert files.read(as_="arrow", full_scan=True)["n"].to_pylist() == NUMBERS["n"].to_pylist()
