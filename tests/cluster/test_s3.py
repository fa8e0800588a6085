"""The S3 store of the cluster: what was written is there again after it was killed, and only its key opens it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from werkzeug.serving import make_server

from cluster import s3

KEY = "made-up"
Start = Callable[[], Any]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the store anew, with what its journal has; a client of it."""
    import s3fs
    from moto.backends import get_backend

    servers: list[tuple[Any, threading.Thread]] = []

    def stop() -> None:
        for server, thread in servers:
            server.shutdown()
            thread.join()
            server.server_close()
        servers.clear()
        get_backend("s3").reset()  # as a process that has ended

    def start(key: str = KEY) -> Any:
        stop()
        server = make_server("127.0.0.1", 0, s3.application(tmp_path / "journal", KEY), threaded=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        return s3fs.S3FileSystem(
            key=key,
            secret="x",
            endpoint_url=f"http://127.0.0.1:{server.server_port}",
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    yield start
    stop()


def test_what_was_written_is_there_after_a_restart(start: Start) -> None:
    store = start()
    store.call_s3("create_bucket", Bucket="lake")
    store.pipe_file("lake/a/x=1/one", b"\x00\xff" * 1000)
    store.pipe_file("lake/a/two", b"old")
    store.pipe_file("lake/a/two", b"new")
    store.pipe_file("lake/a/three", b"")
    store.rm_file("lake/a/three")
    store = start()
    assert store.cat_file("lake/a/x=1/one") == b"\x00\xff" * 1000
    assert store.cat_file("lake/a/two") == b"new"
    assert sorted(store.find("lake")) == ["lake/a/two", "lake/a/x=1/one"]
    store.pipe_file("lake/four", b"4")
    assert start().cat_file("lake/four") == b"4"


def test_a_write_that_was_cut_off_is_left_out(start: Start, tmp_path: Path) -> None:
    store = start()
    store.call_s3("create_bucket", Bucket="lake")
    store.pipe_file("lake/one", b"1")
    store.pipe_file("lake/two", b"2")
    journal = tmp_path / "journal"
    journal.write_bytes(journal.read_bytes()[:-10])
    store = start()
    assert store.find("lake") == ["lake/one"]
    store.pipe_file("lake/three", b"3")
    assert start().find("lake") == ["lake/one", "lake/three"]


def test_of_many_that_create_a_file_one_does(start: Start) -> None:
    store = start()
    store.call_s3("create_bucket", Bucket="lake")

    def create(number: int) -> bool:
        try:
            store.pipe_file("lake/one", str(number).encode(), mode="create")
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        created = [number for number, done in enumerate(pool.map(create, range(16))) if done]
    assert len(created) == 1
    assert start().cat_file("lake/one") == str(created[0]).encode()


def test_another_key_is_refused(start: Start) -> None:
    with pytest.raises(PermissionError, match="not the key of this store"):
        start("another").ls("lake")
