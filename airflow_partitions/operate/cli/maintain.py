"""``airflow asset-partitions maintain``."""

from __future__ import annotations

import json
import logging
import sys
from argparse import Namespace

import attrs
from rich.table import Table

from airflow_partitions.core.errors import InvalidDefinitionError, NotMigratedError, PartitionError
from airflow_partitions.operate.cli.output import console

log = logging.getLogger(__name__)


def maintain_tables(args: Namespace) -> None:
    """Keep the tables of some assets small, or of all; exit status 1 with the reasons where it can't be done."""
    from airflow_partitions.engine.graph.serialized_dags import read_serialized_dags
    from airflow_partitions.operate.upkeep.tables import maintain

    try:
        tables = read_serialized_dags().tables
    except NotMigratedError as error:
        sys.exit(str(error))
    outcomes, problems = [], []
    for asset in args.assets or sorted(tables):
        try:
            if asset not in tables:
                raise InvalidDefinitionError(  # noqa: TRY301 - one of the reasons
                    f"asset {asset!r} has no table that is kept small; expected storage=Iceberg(…,"
                    f" maintenance=Maintenance()), as of: {', '.join(sorted(tables)) or 'none'}"
                )
            outcomes.append(maintain(asset, tables[asset], dry_run=args.dry_run))
        except PartitionError as error:
            problems.append(str(error))
        except Exception as error:
            log.exception("Maintenance of the table of asset %s failed", asset)
            problems.append(f"asset {asset!r}: its table was not kept small: {type(error).__name__}: {error}")
    if args.output == "json":
        print(json.dumps([attrs.asdict(outcome) for outcome in outcomes]))  # noqa: T201 - for scripts
    else:
        table = Table("asset", "table", "snapshots", "manifests", "files", "tries", "partitions compacted")
        for each in outcomes:
            counts = (str(each.snapshots), f"{each.manifests} → {each.into}", str(each.files), str(each.tries))
            table.add_row(each.asset, each.table, *counts, str(len(each.compacted)))
        console().print(table)
    if problems:
        sys.exit("\n".join(problems))
