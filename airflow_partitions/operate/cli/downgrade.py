"""``airflow asset-partitions downgrade``."""

from __future__ import annotations

import sys
from argparse import Namespace

from airflow import settings
from airflow.cli.commands.db_command import run_db_downgrade_command
from alembic.util import CommandError

from airflow_partitions.core.errors import NotMigratedError
from airflow_partitions.engine.database.manager import AssetPartitionsDBManager
from airflow_partitions.engine.database.revision import REVISIONS


def downgrade(args: Namespace) -> None:
    """Take our tables back to those of an older release, or drop them, as Airflow's own ``db downgrade`` does."""
    with settings.get_session()() as at:
        try:
            run_db_downgrade_command(args, AssetPartitionsDBManager(at).downgrade, REVISIONS)
        except (CommandError, NotMigratedError) as error:
            sys.exit(str(error))
