"""What is said of partitions by hand: the commands."""

from __future__ import annotations

from airflow.cli.cli_config import CLICommand

from airflow_partitions.operate.cli.arguments import arguments
from airflow_partitions.operate.cli.commands.command import command
from airflow_partitions.operate.cli.output import OUTPUT
from airflow_partitions.operate.cli.source import SOURCE
from airflow_partitions.operate.contract.corrections import Adopt, Forget, Mark, Remember
from airflow_partitions.operate.contract.missed import SkipMissed


def corrections() -> tuple[CLICommand, ...]:
    """What is said of partitions by hand."""
    return (
        command(
            "mark",
            "corrections.mark",
            "Mark partitions as materialized, without a run",
            "Mark partitions as materialized now, without a run: an event is sent for each, and what is downstream "
            "runs for it, unless it is --quiet. Storage is not touched.",
            """
            airflow asset-partitions mark hourly_flights 2013-03-10T05:00-04:00 --reason 'loaded by hand'
            airflow asset-partitions mark airport_days '2013-03-01..2013-03-10 & airport in JFK,LGA' --quiet --dry-run
            AIRFLOW_CLI_TOKEN=… airflow asset-partitions mark hourly_flights latest --url https://airflow.example.com
            """,
            (
                *arguments(Mark),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "forget",
            "corrections.forget",
            "Let partitions count as missing",
            "Let partitions count as missing until they are materialized again, or marked. Storage is not touched, "
            "nothing runs for it, and Airflow's own pages show their events as before. To take it back, remember "
            "them.",
            """
            airflow asset-partitions forget hourly_flights 2013-03-10 --reason 'rows are missing' --dry-run
            airflow asset-partitions forget hourly_flights 2013-03-10 --reason 'rows are missing'
            """,
            (
                *arguments(Forget),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "remember",
            "corrections.remember",
            "Take back that partitions were forgotten",
            "Let partitions that were forgotten count as materialized again, when and by whom they were. Nothing "
            "runs for it. Those that were not forgotten, or were materialized since, stay as they are.",
            """
            airflow asset-partitions remember hourly_flights 2013-03-10 --dry-run
            airflow asset-partitions remember hourly_flights 2013-03-10
            """,
            (
                *arguments(Remember),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "skip-missed",
            "corrections.skip_missed",
            "Let nothing follow that paused Dags have missed",
            "Events that came while a Dag was paused make partitions once it is unpaused, all of them. This lets none "
            "of those follow that are missed by now; --dry-run tells which. Any of them can still be asked for.",
            """
            airflow asset-partitions skip-missed daily_delays --dry-run
            airflow asset-partitions skip-missed daily_delays
            """,
            (
                *arguments(SkipMissed),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "adopt",
            "corrections.adopt",
            "Take over partitions that are there already",
            "Take what exists into the ledger of an asset: what is in its storage, or what it had materialized "
            "under another name. It is quiet: no event is sent, nothing runs for it. What was published while its "
            "event was lost is mended by --from-storage, too. It can be repeated.",
            """
            airflow asset-partitions adopt hourly_flights --from-storage --dry-run
            airflow asset-partitions adopt hourly_flights --from-storage
            airflow asset-partitions adopt departures --from-asset hourly_flights --output json
            """,
            (
                *arguments(Adopt),
                *SOURCE,
                OUTPUT,
            ),
        ),
    )
