"""Partitions that are asked for: the commands."""

from __future__ import annotations

from airflow.cli.cli_config import ActionCommand, Arg, CLICommand

from airflow_partitions.operate.cli.arguments import arguments
from airflow_partitions.operate.cli.commands.command import command
from airflow_partitions.operate.cli.output import OUTPUT
from airflow_partitions.operate.cli.source import SOURCE
from airflow_partitions.operate.contract.fill import FillAssets
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.operate.contract.requests import (
    CancelRequest,
    DeleteRequest,
    ListRequests,
    MaterializePartitions,
    PauseRequest,
    PlanPartitions,
    ResumeRequest,
    RetryRequest,
)

_SINCE = str(FillAssets.model_fields["since"].description)
_CONTROL_NOTES = "exit status: 0 if all of them were told so; 1 if one is refused, which keeps none from the others\n"
_MATERIALIZE_NOTES = """
exit status:
  0  asked for, or with --wait: all was made      1  refused, with the reason
  3  with --wait: some failed                     4  with --wait: cancelled, paused, or stopped at a failure
"""


def requests() -> tuple[CLICommand, ...]:
    """Partitions that are asked for."""
    return (
        command(
            "plan",
            "plan.plan",
            "Show which partitions a request would make",
            "Show which partitions materialize would make, of which assets, in which order, and the usual time and "
            "size of them. Changes nothing.",
            """
            airflow asset-partitions plan hourly_flights 2013-03
            airflow asset-partitions plan airport_days '2013-03 & airport in JFK,LGA' --only missing --upstream
            airflow asset-partitions plan hourly_flights latest --downstream --output json
            """,
            (
                *arguments(PlanPartitions),
                *SOURCE,
                OUTPUT,
            ),
        ),
        command(
            "materialize",
            "materialize.materialize",
            "Ask for partitions to be made, also again",
            "Ask for partitions: a run for each, or a new try of the run that it has. The request is a backfill of "
            "Airflow with exactly these partitions, and has its number. Runs of the schedule begin before those of "
            "a request. What is asked for already, or being made, is refused.",
            """
            airflow asset-partitions materialize hourly_flights 2013-03 --only missing --wait
            airflow asset-partitions materialize airport_days '2013-03-08|JFK' '2013-03-09|JFK' --label 'late files'
            airflow asset-partitions materialize daily_delays 2013-02..2013-04 --upstream --newest-first
            airflow asset-partitions materialize daily_delays --only failed --concurrency 4 --stop-at-failure --dry-run
            """,
            (
                *arguments(MaterializePartitions),
                Arg(("--wait",), action="store_true", help="Wait until the requests have ended"),
                *SOURCE,
                OUTPUT,
            ),
            notes=_MATERIALIZE_NOTES,
        ),
        command(
            "fill",
            "fill.fill",
            "Ask for what is missing of several assets",
            "Ask for what is missing, failed or waiting of all assets, or some, over one stretch of time, by one plan: "
            "what is upstream is asked for, and what is made of it follows by events. What lacks something that is not "
            "planned is told and left alone; an asset that can't be asked for keeps no other from it.",
            """
            airflow asset-partitions fill --since 22:00 --dry-run
            airflow asset-partitions fill --since 7d --tag finance --wait
            airflow asset-partitions fill --since 2013-03-01T00:00Z --until 2013-04-01T00:00Z --dag hourly_flights
            airflow asset-partitions fill --since 2h --only failed --label 'after the outage' --output json
            """,
            (
                Arg(
                    ("--since",), metavar="TIME", required=True, help=str(FillAssets.model_fields["since"].description)
                ),
                *arguments(FillAssets, without=("since",)),
                Arg(("--wait",), action="store_true", help="Wait until the requests have ended"),
                *SOURCE,
                OUTPUT,
            ),
            notes=_MATERIALIZE_NOTES,
        ),
        command(
            "requests",
            "requests.list_requests",
            "Show the requests for partitions",
            "Show the requests for partitions, the newest first, and how far they are.",
            """
            airflow asset-partitions requests
            airflow asset-partitions requests hourly_flights
            airflow asset-partitions requests hourly_flights --limit 1 --output json
            """,
            (
                Arg(("asset",), nargs="?", help="Name of the asset (default: all)"),
                *arguments(ListRequests, without=("asset",), defaults={"limit": 20}),
                *SOURCE,
                OUTPUT,
            ),
        ),
        _control(
            "pause",
            PauseRequest,
            "Pause a request",
            "Begin no more runs of a request; those that run go on.",
        ),
        _control(
            "resume",
            ResumeRequest,
            "Go on with a request",
            "Begin runs again of a request that was paused, stopped at a failure, or whose maker was killed.",
        ),
        _control(
            "cancel",
            CancelRequest,
            "Cancel a request",
            "Begin no more runs of a request. As with a backfill of Airflow, runs that have not begun fail, and "
            "those that run go on.",
        ),
        _control(
            "retry",
            RetryRequest,
            "Repeat what failed of a request",
            "Let the runs of a request that failed work again.",
        ),
        _control(
            "delete",
            DeleteRequest,
            "Delete a request",
            "Delete a request that is not at work, and its backfill of Airflow. Its runs stay, and what they made.",
        ),
    )


def _control(name: str, operation: type[Operation], summary: str, description: str) -> ActionCommand:
    examples = f"""
        airflow asset-partitions {name} 17
        airflow asset-partitions {name} 17 18 23 --output json
    """
    numbers = Arg(("numbers",), type=int, nargs="+", metavar="NUMBER", help="Numbers of requests")
    own = numbers, *arguments(operation, without=("request",)), *SOURCE, OUTPUT
    return command(name, f"requests.{name}", summary, description, examples, own, notes=_CONTROL_NOTES)
