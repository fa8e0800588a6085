"""``airflow asset-partitions ddl``."""

from __future__ import annotations

import sys
from argparse import Namespace

from airflow_partitions.core.errors import InvalidDefinitionError, PartitionError
from airflow_partitions.operate.cli.test import find_task, stdout_kept


def show_ddl(args: Namespace) -> None:
    """Show the SQL that makes the storage of an asset a table; exit status 1 with the reason if there is none."""
    from airflow_partitions.storage import ddl

    try:
        with stdout_kept():
            outlets = find_task(args.asset, args.dags).outlets
            storage = next((one.storage for one in outlets if getattr(one, "storage", None) is not None), None)
            if storage is None:
                raise InvalidDefinitionError(
                    f"asset {args.asset!r} has no storage, so it is no table; expected storage=Parquet(…), or another"
                    " one, in its decorator"
                )
            statements = ddl(storage, args.table or args.asset, args.engine)
        print(statements, end="")  # noqa: T201 - for an engine
    except PartitionError as error:
        sys.exit(str(error))
