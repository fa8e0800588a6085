"""Which partitions there are: the commands."""

from __future__ import annotations

from airflow.cli.cli_config import Arg, CLICommand

from airflow_partitions.operate.cli.arguments import arguments
from airflow_partitions.operate.cli.commands.command import TABLE_OR_JSON, command
from airflow_partitions.operate.cli.output import OUTPUT
from airflow_partitions.operate.cli.source import SOURCE
from airflow_partitions.operate.cli.values import VALUE
from airflow_partitions.operate.contract.assets import ListAssets
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.contract.keys import AddKeys, ListKeys
from airflow_partitions.operate.contract.states import ListStates, ShowPartition
from airflow_partitions.operate.contract.tasks import ShowTasks

_STATUS_NOTES = "exit status: 0 if all of them are materialized and up to date, else 1\n"


def states() -> tuple[CLICommand, ...]:
    """Which partitions there are."""
    return (
        command(
            "list",
            "status.assets",
            "Show the assets that have partitions",
            "Show the assets that have partitions, with their definitions, and how many of their partitions are in "
            "which state.",
            """
            airflow asset-partitions list
            airflow asset-partitions list --search flights --output json
            """,
            (
                *arguments(ListAssets, without=("counts", "limit", "cursor")),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "status",
            "status.status",
            "Show the states of an asset's partitions",
            "Show which partitions of an asset are materialized, missing, failed, running, queued, stale, skipped, "
            "or waiting and for what: as a strip in which each character stands for the same time, and as stretches"
            " of one state, the newest first. --value shows a value of each, too, such as its rows, and what is out of "
            "the ordinary. Right at this moment, whether or not upkeep runs. Exit status 1 if something is not "
            "materialized, or not up to date.",
            """
            airflow asset-partitions status hourly_flights
            airflow asset-partitions status hourly_flights --from 2013-03-01 --until 2013-04-01
            airflow asset-partitions status airport_days 'airport in JFK,LGA' --only missing --only failed
            airflow asset-partitions status hourly_flights --only missing --output plain | cut -f 2,3
            airflow asset-partitions status hourly_flights --value rows
            """,
            (
                *arguments(ListStates, without=("oldest_first", "cursor"), defaults={"limit": 40}),
                Arg(("--from",), dest="start", metavar="TIME", help="Only intervals that begin from then on"),
                Arg(("--until",), metavar="TIME", help="Only intervals that begin before it"),
                VALUE,
                *SOURCE,
                OUTPUT,
            ),
            notes=_STATUS_NOTES,
        ),
        command(
            "board",
            "board.board",
            "Show all assets over one stretch of time",
            "Show the states of the partitions of all assets over the same stretch of time, a row for each: what is"
            " upstream stands above what is made of it, so that a hole and what waits for it are below each other. Of"
            " a product, and of keys that are known at runtime, all are in one row.",
            """
            airflow asset-partitions board
            airflow asset-partitions board --since 7d --tag flights --only failed --only missing
            airflow asset-partitions board --dag hourly_flights --since 365d --output json
            """,
            (
                *arguments(ShowBoard, without=("columns",)),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "tasks",
            "tasks.tasks",
            "Show the tasks of a Dag, partition by partition",
            "Show the state of every task in the newest run of each partition, a row for each task: which step of a Dag"
            " fails, and on which days. The newest partitions are shown; --after leads to those before them.",
            """
            airflow asset-partitions tasks daily_delays
            airflow asset-partitions tasks daily_delays 2013-02-01..2013-03-01 --limit 200
            airflow asset-partitions tasks daily_delays --output plain | grep failed
            """,
            (
                *arguments(ShowTasks),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "explain",
            "status.explain",
            "Say all of one partition, and why it is what it is",
            "Say in words why a partition waits, is stale, failed, was skipped or is missing; what it needs and "
            "what of that is there; its runs and tries; rows, files and bytes over time; and what needs it.",
            """
            airflow asset-partitions explain daily_delays 2013-02-08
            airflow asset-partitions explain airport_days '2013-02-08|JFK' --output json
            AIRFLOW_CLI_TOKEN=… airflow asset-partitions explain daily_delays 2013-02-08 --url https://airflow.example.com
            """,
            (
                *arguments(ShowPartition),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "failures",
            "failures.failures",
            "Show what failed, by its error",
            "Show the failed partitions of all assets, grouped by what made their last runs fail: keys, dates, ids and"
            " numbers in an error do not tell two apart.",
            """
            airflow asset-partitions failures
            airflow asset-partitions failures --since 2h --tag flights
            airflow asset-partitions failures --asset hourly_flights --output json
            """,
            (
                *arguments(ListFailures),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "changes",
            "failures.changes",
            "Show what got worse since a time",
            "Show the partitions that failed, became late or stale, or are missing since a time, by asset. It is told "
            "by what is known now: what was mended meanwhile is not; what was stale, and has one more reason now, is.",
            """
            airflow asset-partitions changes --since 22:00
            airflow asset-partitions changes --since 2h --asset hourly_flights
            airflow asset-partitions changes --since 7d --dag hourly_flights
            airflow asset-partitions changes --since 2013-03-10T22:00+01:00 --output json
            """,
            (
                Arg(
                    ("--since",), metavar="TIME", required=True, help=str(ListChanges.model_fields["since"].description)
                ),
                *arguments(ListChanges, without=("since",)),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "records",
            "records.show_records",
            "Show which partitions of an asset were materialized",
            "Show which partitions of an asset were materialized, when, and by which run: what Airflow's events "
            "tell, and what upkeep has noted of events that Airflow has purged since.",
            """
            airflow asset-partitions records hourly_flights
            airflow asset-partitions records hourly_flights --from 2013-03-10 --until 2013-03-11
            airflow asset-partitions records hourly_flights --from 2013-11-03T01:00-04:00 --output json
            """,
            (
                Arg(("asset",), help="Name of the asset"),
                Arg(
                    ("--from",),
                    dest="start",
                    metavar="TIME",
                    help="Only intervals that end after it: a date in the partition's zone, or a time with its"
                    " UTC offset",
                ),
                Arg(("--until",), metavar="TIME", help="Only intervals that begin before it"),
                TABLE_OR_JSON,
            ),
        ),
        command(
            "keys",
            "keys.keys",
            "Show the valid keys of an asset, or add and remove some",
            "Show the keys of the partitions of an asset whose interval is over, whether they were materialized or "
            "not: what may be asked for. The newest intervals come first. Keys that are known only at runtime can "
            "be added and removed, as the asset's task does.",
            """
            airflow asset-partitions keys hourly_flights
            airflow asset-partitions keys airport_days '2013-03-01..2013-03-10 & airport in JFK,LGA' --oldest-first
            airflow asset-partitions keys airport_days --dimension airport --output plain
            airflow asset-partitions keys active_customers --add ann --add bob --metadata '{"since": 2013}'
            airflow asset-partitions keys active_customers --remove ann
            AIRFLOW_CLI_TOKEN=… airflow asset-partitions keys hourly_flights --url https://airflow.example.com
            """,
            (
                *arguments(ListKeys),
                Arg(("--add",), action="append", metavar="KEY", help="Add this key; can be repeated"),
                Arg(("--remove",), action="append", metavar="KEY", help="Remove this key; can be repeated"),
                *arguments(AddKeys, without=("asset", "keys")),
                *SOURCE,
                OUTPUT,
            ),
        ),
    )
