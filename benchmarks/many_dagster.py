"""Dagster's side of :mod:`benchmarks.many`; runs in an environment where Dagster, pandas and pyarrow are.

A backfill by a single run: one process gets a contiguous range of keys, makes all of them by one frame, and Dagster
notes a materialization of each. That the run is started by a daemon, and by what it takes a place in a queue, is left
out: the process begins with Dagster's own import. All or nothing: there is no outcome for one of the keys.
"""

import sys
import tempfile
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

import pandas as pd  # noqa: E402
from dagster import (  # type: ignore[import-not-found]  # noqa: E402
    AssetExecutionContext,
    BackfillPolicy,
    DagsterInstance,
    HourlyPartitionsDefinition,
    asset,
    materialize,
)

RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
HOURS = HourlyPartitionsDefinition(start_date="2013-01-01-00:00", end_date="2015-01-01-00:00")
LAKE = Path(sys.argv[1])


@asset(partitions_def=HOURS, backfill_policy=BackfillPolicy.single_run())
def means(context: AssetExecutionContext) -> None:
    """The mean delay of each origin in each hour of the run, a file for each hour."""
    keys = list(context.partition_keys)
    frames = []
    for key in keys:
        hour = f"{key[:10]}T{key[11:13]}"
        frames.append(pd.read_parquet(LAKE / "flights" / f"hour={hour}" / "0.parquet").assign(hour=hour))
    rows = pd.concat(frames).groupby(["hour", "origin"], as_index=False)["delay"].mean()
    for hour, own in rows.groupby("hour"):
        folder = LAKE / "dagster" / f"hour={hour}"
        folder.mkdir(parents=True, exist_ok=True)
        own.drop(columns="hour").to_parquet(folder / "0.parquet", index=False)


def main(first: int, count: int) -> None:
    keys = HOURS.get_partition_keys()[first : first + count]
    with tempfile.TemporaryDirectory() as folder:
        instance = DagsterInstance.local_temp(folder)
        result = materialize([means], instance=instance, tags={RANGE_START: keys[0], RANGE_END: keys[-1]})
        there = instance.get_materialized_partitions(means.key)
    if not result.success or there != set(keys):
        sys.exit(f"{len(there):,} of {count:,} partitions are there")


if __name__ == "__main__":
    main(int(sys.argv[2]), int(sys.argv[3]))
