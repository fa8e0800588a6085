"""What keeps an estate in order: the commands."""

from __future__ import annotations

from airflow.cli.cli_config import ARG_DB_FROM_REVISION, ARG_DB_FROM_VERSION, ARG_DB_SQL_ONLY, ARG_YES, Arg, CLICommand

from airflow_partitions.operate.cli.commands.command import TABLE_OR_JSON, command
from airflow_partitions.operate.cli.source import SOURCE

_DRY_RUN = Arg(("--dry-run",), action="store_true", help="Change nothing, only tell")


def upkeep() -> tuple[CLICommand, ...]:
    """What keeps an estate in order."""
    return (
        command(
            "upkeep",
            "upkeep.upkeep",
            "Keep ledgers, paused consumers, pending rows and tables in order",
            "Write what was materialized to the ledgers, ask for partitions whose upstream events came while a Dag "
            "was paused, delete pending rows that can never fire, and once a day keep the tables of assets small "
            "that say maintenance=. Of several processes one works, the others stand by. Nothing is lost when none "
            "runs.",
            """
            airflow asset-partitions upkeep                      one round, for cron
            airflow asset-partitions upkeep --loop               a service; start as many as you like, one works
            airflow asset-partitions upkeep --loop --interval 2 --output json
            """,
            (
                Arg(("--loop",), action="store_true", help="Go on until the process is ended"),
                Arg(("--check",), action="store_true", help="Only say whether a process is alive: exit 0 or 1"),
                Arg(("--interval",), type=float, default=5.0, help="Seconds between rounds (default: 5)"),
                TABLE_OR_JSON,
            ),
        ),
        command(
            "maintain",
            "maintain.maintain_tables",
            "Keep the tables of assets small now",
            "Forget old snapshots of the tables of assets that say maintenance=, write their manifests anew, remove"
            " files that nobody names, and merge small files where they say so: what upkeep does once a day.",
            """
            airflow asset-partitions maintain --dry-run
            airflow asset-partitions maintain fares --dry-run --output json
            airflow asset-partitions maintain fares
            """,
            (
                Arg(("assets",), nargs="*", metavar="asset", help="Names of assets (default: all)"),
                _DRY_RUN,
                TABLE_OR_JSON,
            ),
        ),
        command(
            "reconcile",
            "upkeep.reconcile",
            "Make ledgers again from all events",
            "Read all events of the assets again and write what is missing in their ledgers, for example after a "
            "database was restored from a backup.",
            """
            airflow asset-partitions reconcile
            airflow asset-partitions reconcile hourly_flights daily_delays --output json
            """,
            (
                Arg(("assets",), nargs="*", metavar="asset", help="Names of assets (default: all)"),
                _DRY_RUN,
                *SOURCE,
                TABLE_OR_JSON,
            ),
        ),
        command(
            "downgrade",
            "downgrade.downgrade",
            "Take the tables of this package back to an older release, or drop them",
            "Take the tables of this package in Airflow's database back to those of an older release of it, or drop"
            " them all with all that they hold. Airflow's own tables are not touched. Stop Airflow before. To make "
            "them, or bring them to this release: airflow db migrate.",
            """
            airflow asset-partitions downgrade --to-version 0.1.0        before an older release is installed
            airflow asset-partitions downgrade --to-revision base --yes  drop all tables, before uninstalling
            airflow asset-partitions downgrade --to-revision base --show-sql-only
            """,
            (
                Arg(("-n", "--to-version"), metavar="RELEASE", help="Release of this package to go back to"),
                Arg(("-r", "--to-revision"), metavar="REVISION", help="Revision to go back to; base: no tables"),
                ARG_DB_SQL_ONLY,
                ARG_DB_FROM_REVISION,
                ARG_DB_FROM_VERSION,
                ARG_YES,
            ),
        ),
        command(
            "doctor",
            "doctor.examine",
            "Say what can't work as the Dags are now",
            "Look at all Dags, whatever file or bundle they are in, and say what can never run: Dags that wait for "
            "each other, upstream assets nobody makes partitions of, and Dags that can't be read. Also what is "
            "wrong in the assets' state stores: cells that can't be read, and records of partitions that no event "
            "and no run explains. Exit status 1 if there is something. Also notes on the installation, which don't "
            "change the exit status: plugin, upkeep, executor, Spark's connection, Java, storage. Changes nothing.",
            """
            airflow asset-partitions doctor
            airflow asset-partitions doctor --output json
            """,
            (
                *SOURCE,
                TABLE_OR_JSON,
            ),
        ),
    )
