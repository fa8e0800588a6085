"""One scheduler evaluation of a waiting window of 24 and of 8,760 keys, of which the last one is missing.

The first one of a scheduler asks for the whole window; those after it, one for each of its loops, for what is new.
"""

from __future__ import annotations

import statistics
import sys
from time import process_time
from typing import TYPE_CHECKING

from benchmarks.metadata import Row, main

if TYPE_CHECKING:
    from airflow.partition_mappers.base import PartitionMapper

ROUNDS = 30
WANTED_QUERIES = 2


def measure() -> list[Row]:
    """Rows of both windows of ours, and of Airflow's own of 24 keys."""
    from benchmarks.history import FIRST, add_events, hours, native_text, our_text

    year = hours(FIRST, 8760)
    others = hours(FIRST.replace(year=2014), 3 * 8760)  # the asset has a longer history
    add_events("waited_for", [our_text(hour) for hour in [*year[:23], *year[24:-1], *others]])
    native = [native_text(hour) for hour in year[:23]]
    return [
        _row("24 keys, ours", "waiting_ours", "waited_for", "2013-01-01", set(map(our_text, year[:23]))),
        _row("8,760 keys, ours", "waiting_year", "waited_for", "2013-01-01", set()),
        _row("24 keys, native", "waiting_native", "waited_for_natively", "2013-01-01", set(native)),
    ]


def _row(what: str, dag_id: str, asset: str, key: str, matched: set[str]) -> Row:
    from benchmarks.history import counted, timetable

    seconds, query_counts = [], []
    for _ in range(ROUNDS + 1):
        mapper: PartitionMapper = timetable(dag_id).get_partition_mapper(name=asset)
        with counted() as queries:
            started = process_time()
            evaluation = mapper.wait_policy.is_satisfied_by_keys(matched=matched, expected=mapper.to_upstream(key))  # type: ignore[attr-defined]
            seconds.append(process_time() - started)
            query_counts.append(queries())
        assert not evaluation.satisfied
    return {
        "what": what,
        "ms": f"{statistics.median(seconds[1:]) * 1e3:.3g}",
        "queries": max(query_counts[1:]),
        "ms, the first": f"{seconds[0] * 1e3:.3g}",
        "queries, the first": query_counts[0],
        "wanted": f"<= {WANTED_QUERIES} queries" if "ours" in what else "",
        "missed": max(query_counts[1:]) > WANTED_QUERIES,
    }


if __name__ == "__main__":
    sys.exit(main("evaluation", str(__doc__), measure))
