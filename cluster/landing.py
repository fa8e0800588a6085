"""The landing zone in the S3 store: the hours that are to be processed, as another system would leave them there."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.home import BUCKET, ClusterHome
from demo import landing

if TYPE_CHECKING:
    from s3fs import S3FileSystem


def ensure(home: ClusterHome, hours: Sequence[datetime]) -> int:
    """Bring *hours* of flights and weather to the store unless they are there; how many were brought."""
    store = _store(home)
    count = 0
    for name, table in landing.source().items():
        root = f"{BUCKET}/landing/{name}"
        there = {path.rpartition("/")[2] for path in store.ls(root)} if store.exists(root) else set()
        missing = [hour for hour in hours if landing.partition_of(hour) not in there]
        with tempfile.TemporaryDirectory() as folder:
            landing.write(table, missing, Path(folder) / name)
            files = {str(file): str(file.relative_to(folder)) for file in Path(folder).glob("*/*/*.parquet")}
            store.put(list(files), [f"{BUCKET}/landing/{path}" for path in files.values()])
        count += len(missing)
    return count


def make_bucket(home: ClusterHome) -> None:
    """Make the bucket of the lake unless it is there."""
    store = _store(home)
    if not store.exists(BUCKET):
        store.call_s3("create_bucket", Bucket=BUCKET)  # `mkdir` would name the region, which the first one refuses


def _store(home: ClusterHome) -> S3FileSystem:
    import s3fs

    secrets = home.lake_connection
    client = {"region_name": "us-east-1"}
    return s3fs.S3FileSystem(
        key=secrets["login"],
        secret=secrets["password"],
        endpoint_url=home.endpoint,
        client_kwargs=client,
        use_listings_cache=False,
        skip_instance_cache=True,
    )
