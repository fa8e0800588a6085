"""Kedro's side of :mod:`benchmarks.read_many`; runs in an environment where Kedro is."""

from __future__ import annotations

import json
import os
import sys
import warnings
from time import perf_counter

warnings.simplefilter("ignore")
os.environ.setdefault("KEDRO_DISABLE_TELEMETRY", "1")

import pandas as pd  # noqa: E402
from kedro_datasets.pandas import ParquetDataset  # type: ignore[import-not-found]  # noqa: E402
from kedro_datasets.partitions import PartitionedDataset  # type: ignore[import-not-found]  # noqa: E402


def read(path: str, names: list[str]) -> int:
    """Rows of the *wanted* partitions, as its users read them: the mapping, then the functions that are wanted."""
    dataset = PartitionedDataset(path=path, dataset=ParquetDataset, filename_suffix=".parquet")
    loaded = dataset.load()
    return len(pd.concat([loaded[name]() for name in names]))


if __name__ == "__main__":
    for line in sys.stdin:
        path, names = json.loads(line)
        started = perf_counter()
        rows = read(path, names)
        print(json.dumps({"seconds": perf_counter() - started, "rows": rows}), flush=True)
