"""Tables of a REST catalog, whose answers may be lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from airflow_partitions.core.errors import ConflictError, MissingInputError, UnknownOutcomeError
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore
from airflow_partitions.storage.iceberg.table.catalog import TableReference
from airflow_partitions.storage.metadata.schema import SchemaRule
from tests.hunt import HUNT
from tests.storage.iceberg.java_rest_server import JARS, java_rest_server
from tests.storage.iceberg.publisher import Publisher, problems, publish
from tests.storage.iceberg.rest_server import RestServer, rest_server
from tests.storage.iceberg.tables import DAYS, SCHEMA, Try, numbers, rows_of, save, store_of

KEYS = [str(key) for key in DAYS.keys("2013-01-01", "2013-01-09")]
DAY, NEXT = KEYS[:2]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RestServer]:
    with rest_server(tmp_path) as running:
        yield running


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IcebergStore]:
    jars = os.environ.get(JARS)
    if jars is None:
        server = nullcontext(request.getfixturevalue("server").properties)
    else:
        server = java_rest_server(tmp_path, Path(jars))
    with server as properties:
        yield store_of(tmp_path, DAYS, table=TableReference("db.delays", "lake", properties))


def test_it_makes_publishes_and_evolves(store: IcebergStore) -> None:
    assert dict(store.snapshot()) == {}
    save(store, {DAY: [1], NEXT: []})
    save(store, {DAY: [2, 3]}, "again")
    assert numbers(store) == [2, 3]
    rows = {name: content.metadata and content.metadata.rows for name, content in store.snapshot().items()}
    assert rows == {f"date={DAY}": 2, f"date={NEXT}": 0}
    wide = {**SCHEMA, "note": "string"}
    work = Try.begin(store, "wide").write(NEXT, rows_of(DAYS, NEXT, [4], note=["new"]), schema=wide, evolve=True)
    work.publish(SchemaRule(evolve=True))
    assert store.recorded_schema() == wide
    store.table.load().append(rows_of(DAYS, DAY, [5]))
    assert store.snapshot()[f"date={DAY}"].metadata is None
    with pytest.raises(MissingInputError, match=r"nearest: 'db\.delays'"):
        TableReference("db.delay", "lake", store.table.properties).load()


@pytest.mark.parametrize(("losses", "commits"), [(["lost"], 1), (["500"], 1), (["503"], 2), (["503", "lost"], 2)])
def test_lost_answers_are_looked_up(store: IcebergStore, server: RestServer, losses: list[str], commits: int) -> None:
    save(store, {DAY: [1]})
    server.commits, server.losses = 0, losses
    save(store, {DAY: [2]}, "again")
    assert (server.commits, numbers(store)) == (commits, [2])
    assert len(store.table.load().snapshots()) == 2


def test_a_catalog_that_goes_away_leaves_the_outcome_open(tmp_path: Path) -> None:
    with rest_server(tmp_path) as server:
        store = store_of(tmp_path, DAYS, table=TableReference("db.delays", "lake", server.properties))
        save(store, {DAY: [1]})
        work = Try.begin(store, "again").write(DAY, rows_of(DAYS, DAY, [2]))
        server.losses = ["503"] * 1000
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("airflow_partitions.storage.iceberg.table.swap._TRIES", 3)
            with pytest.raises(UnknownOutcomeError, match="come again"):
                work.publish()
    assert server.commits > 3


def test_publishers_of_different_keys_all_succeed(store: IcebergStore, tmp_path: Path) -> None:
    for key in KEYS:
        publish(store, key, 0)
    rounds = 1 if HUNT == 1 else 4
    publishers = [
        Publisher(tmp_path, key, range(1, rounds + 1), waits=False, catalog=store.table.properties) for key in KEYS
    ]
    for publisher in publishers:
        publisher.wait()
    for publisher in publishers:
        publisher.go()
    outcomes = [outcome for publisher in publishers for outcome in publisher.end()]
    assert outcomes == ["published"] * rounds * len(KEYS)
    assert problems(store, KEYS) == []
    assert set(numbers(store)) == {rounds}
    assert len(store.table.load().snapshots()) == (rounds + 1) * len(KEYS)


def test_of_many_writers_of_one_key_one_succeeds(store: IcebergStore, tmp_path: Path) -> None:
    publish(store, DAY, 0)
    publishers = [
        Publisher(tmp_path, DAY, [number], begun=True, waits=False, catalog=store.table.properties)
        for number in range(1, 9)
    ]
    for publisher in publishers:
        publisher.wait()
    for publisher in publishers:
        publisher.go()
    outcomes = [outcome for publisher in publishers for outcome in publisher.end()]
    assert sorted(outcomes) == ["published"] + ["refused"] * 7
    assert set(numbers(store)) == {outcomes.index("published") + 1}


def test_a_branch_that_moves_on_is_no_failure(store: IcebergStore) -> None:
    save(store, {DAY: [1]})
    work = Try.begin(store, "again").write(DAY, rows_of(DAYS, DAY, [2]))
    table = store.table.load()
    head = table.current_snapshot()
    assert head is not None
    table.manage_snapshots().create_branch(head.snapshot_id, "aside").commit()
    store.table.load().append(rows_of(DAYS, NEXT, [3]), branch="aside")
    work.publish()
    assert numbers(store) == [2]
    late = Try.begin(store, "late", 1).write(DAY, rows_of(DAYS, DAY, [4]))
    save(store, {DAY: [5]}, "other")
    with pytest.raises(ConflictError):
        late.publish()
