"""``airflow asset-partitions spark-classes``."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from airflow_partitions.core.errors import PartitionError


def write_classes(args: Namespace) -> None:
    """Write an archive of the classes of a Spark job and show its setting; exit status 1 with the reason otherwise."""
    from airflow_partitions.spark.class_archive import property_for, write_class_archive

    archive = Path(args.file).absolute()
    try:
        write_class_archive(archive)
    except PartitionError as error:
        sys.exit(str(error))
    name, value = property_for(archive)
    print(f"{archive}: {archive.stat().st_size / 1e6:.0f} MB. Jobs start with it by the extra of their connection:")  # noqa: T201
    print(json.dumps({"conf": {name: value}}))  # noqa: T201
