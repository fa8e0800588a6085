"""Processes that publish to a table, and may be killed at any moment, and readers that look at it all the time."""

from __future__ import annotations

import multiprocessing
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from multiprocessing.connection import Connection
from pathlib import Path

import attrs

from airflow_partitions.core.errors import ConflictError
from airflow_partitions.storage.iceberg.iceberg_store import IcebergStore
from tests.storage.iceberg.tables import DAYS, Try, rows_of, store_of

#: Of each published partition.
ROWS = 5
#: A process that has imported everything once makes the others.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload([__name__])


class Publisher:
    """A process that publishes *generations* of one key, each as a run of its own.

    :param begun: all begin before the first is published.
    :param waits: for others on this machine.
    :param catalog: how to reach the catalog, if it is not the one in *folder*.
    """

    def __init__(
        self,
        folder: Path,
        key: str,
        generations: Sequence[int],
        *,
        begun: bool = False,
        waits: bool = True,
        catalog: Mapping[str, str] | None = None,
    ) -> None:
        self._here, there = _processes.Pipe()
        arguments = (there, folder, key, generations, begun, waits, catalog)
        self._process = _processes.Process(target=run, args=arguments)
        self._process.start()

    def wait(self) -> None:
        """Until it is ready to publish."""
        assert self._here.recv() == "ready"

    def go(self) -> None:
        self._here.send("go")

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def end(self) -> list[str]:
        """What became of each generation."""
        outcomes: list[str] = self._here.recv()
        self._process.join()
        assert self._process.exitcode == 0
        return outcomes


def run(
    there: Connection,
    folder: Path,
    key: str,
    generations: Sequence[int],
    begun: bool,
    waits: bool,
    catalog: Mapping[str, str] | None,
) -> None:
    """What the process does."""
    if not waits:
        IcebergStore._one_at_a_time = lambda self: nullcontext()  # type: ignore[method-assign,assignment,return-value]
    store = store_of(folder, DAYS)
    if catalog is not None:
        store = attrs.evolve(store, table=attrs.evolve(store.table, properties=catalog))
    tries = {number: Try.begin(store, f"{key} {number}") for number in generations} if begun else {}
    there.send("ready")
    there.recv()
    outcomes = []
    for generation in generations:
        try:
            publish(store, key, generation, tries.get(generation))
            outcomes.append("published")
        except ConflictError:
            outcomes.append("refused")
    there.send(outcomes)


class Reader(threading.Thread):
    """Looks at the table all the time, and remembers what it should not have seen."""

    def __init__(self, store: IcebergStore, keys: Sequence[str]) -> None:
        super().__init__()
        self.store = store
        self.keys = keys
        self.stop = threading.Event()
        self.wrong: list[str] = []
        self.looks = 0

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                self.wrong += problems(self.store, self.keys)
            except Exception as error:  # noqa: BLE001 - told by the test
                self.wrong.append(repr(error))
            self.looks += 1
            self.stop.wait(0.01)


def problems(store: IcebergStore, keys: Sequence[str]) -> list[str]:
    """Partitions that are missing, partial or mixed."""
    rows = store.table.load().scan().to_arrow()
    counts = Counter(zip(rows["airport"].to_pylist(), rows["v"].to_pylist(), strict=True))
    stored = Counter(key for key, _ in counts)
    wrong = [f"{key} is {[one for one in counts.items() if one[0][0] == key]}" for key in keys if stored[key] != 1]
    return wrong + [f"{name} has {count} rows" for name, count in counts.items() if count != ROWS]


def publish(store: IcebergStore, key: str, generation: int, work: Try | None = None) -> None:
    """Publish one generation of *key*, which each row tells, as does the generation."""
    work = Try.begin(store, f"{key} {generation}") if work is None else work
    rows = rows_of(DAYS, key, [generation] * ROWS)
    rows = rows.set_column(1, "airport", [[key] * ROWS])
    work.write(key, rows).publish()
