"""The commands in the form of Airflow's CLI; the code of one is loaded when it is called.

Arguments follow from the contracts of operations; what a command says of itself, and its examples, stand here.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from textwrap import indent

from airflow.cli.cli_config import (
    ARG_DB_FROM_REVISION,
    ARG_DB_FROM_VERSION,
    ARG_DB_SQL_ONLY,
    ARG_YES,
    ActionCommand,
    Arg,
    CLICommand,
    GroupCommand,
    lazy_load_command,
)

from airflow_partitions.operate.cli.arguments import arguments
from airflow_partitions.operate.cli.output import OUTPUT
from airflow_partitions.operate.cli.source import SOURCE
from airflow_partitions.operate.cli.values import VALUE
from airflow_partitions.operate.contract.assets import ListAssets
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.contract.corrections import Adopt, Forget, Mark, Remember
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.contract.keys import AddKeys, ListKeys
from airflow_partitions.operate.contract.missed import SkipMissed
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
from airflow_partitions.operate.contract.states import ListStates, ShowPartition

_OUTPUT = Arg(("-o", "--output"), choices=("table", "json"), default="table", help="How to show it")
_DRY_RUN = Arg(("--dry-run",), action="store_true", help="Change nothing, only tell")
_DAGS = Arg(("--dags",), metavar="PATH", help="Dag file or folder (default: [core] dags_folder)")

_CONTROL_NOTES = "exit status: 0 if all of them were told so; 1 if one is refused, which keeps none from the others\n"
_STATUS_NOTES = "exit status: 0 if all of them are materialized and up to date, else 1\n"
_MATERIALIZE_NOTES = """
exit status:
  0  asked for, or with --wait: all was made      1  refused, with the reason
  3  with --wait: some failed                     4  with --wait: cancelled, paused, or stopped at a failure
"""


def get_commands() -> list[CLICommand]:
    """The group ``asset-partitions``."""
    commands = (*_states(), *_requests(), *_corrections(), *_order(), *_data())
    return [GroupCommand(name="asset-partitions", help="Partitions of assets", subcommands=commands)]


def _command(
    name: str,
    function: str,
    summary: str,
    description: str,
    examples: str,
    arguments: Iterable[Arg],
    notes: str = "",
) -> ActionCommand:
    """A command.

    :param function: that it calls, with its module in this folder.
    :param examples: lines, each a call.
    :param notes: what is said after the examples.
    """
    return ActionCommand(
        name=name,
        help=summary,
        description=description,
        epilog=f"\nexamples:\n{indent(cleandoc(examples), '  ')}\n{notes}",
        func=lazy_load_command(f"airflow_partitions.operate.cli.{function}"),
        args=tuple(arguments),
    )


def _states() -> tuple[CLICommand, ...]:
    """Which partitions there are."""
    return (
        _command(
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
        _command(
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
        _command(
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
        _command(
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
        _command(
            "failures",
            "failures.failures",
            "Show what failed, by its error",
            "Show the failed partitions of all assets, grouped by what made their last runs fail: keys, dates, ids and"
            " numbers in an error do not tell two apart.",
            """
            airflow asset-partitions failures
            airflow asset-partitions failures --since 2h
            airflow asset-partitions failures --asset hourly_flights --output json
            """,
            (
                *arguments(ListFailures),
                *SOURCE,
                OUTPUT,
            ),
        ),
        _command(
            "changes",
            "failures.changes",
            "Show what got worse since a time",
            "Show the partitions that failed, became late or stale, or are missing since a time, by asset. It is told "
            "by what is known now: what was mended meanwhile is not; what was stale, and has one more reason now, is.",
            """
            airflow asset-partitions changes --since 22:00
            airflow asset-partitions changes --since 2h --asset hourly_flights
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
        _command(
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
                _OUTPUT,
            ),
        ),
        _command(
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


def _requests() -> tuple[CLICommand, ...]:
    """Partitions that are asked for."""
    return (
        _command(
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
        _command(
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
        _command(
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


def _corrections() -> tuple[CLICommand, ...]:
    """What is said of partitions by hand."""
    return (
        _command(
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
        _command(
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
        _command(
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
        _command(
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
        _command(
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


def _order() -> tuple[CLICommand, ...]:
    """What keeps an estate in order."""
    return (
        _command(
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
                _OUTPUT,
            ),
        ),
        _command(
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
                _OUTPUT,
            ),
        ),
        _command(
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
                _OUTPUT,
            ),
        ),
        _command(
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
        _command(
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
                _OUTPUT,
            ),
        ),
    )


def _data() -> tuple[CLICommand, ...]:
    """Data, and the Spark that makes it."""
    return (
        _command(
            "test",
            "test.test_partition",
            "Make one partition in this process, in a scratch place",
            "Make one partition of an asset in this process: Spark runs on local[2], what it makes is shown and "
            "thrown away. No event is sent, no database is touched.",
            """
            airflow asset-partitions test hourly_flights 2013-02-08T05:00-05:00
            airflow asset-partitions test airport_days '2013-02-08|JFK' --input flights=/tmp/sample.parquet --explain
            airflow asset-partitions test airport_days '2013-02-08|JFK' --dags dags/flights.py --output json
            """,
            (
                Arg(("asset",), help="Name of the asset"),
                Arg(("key",), help="Key of the partition, as its runs show it"),
                Arg(
                    ("--input",),
                    action="append",
                    metavar="NAME=PATH",
                    default=[],
                    help="Read these Parquet files instead of an input's partitions; can be repeated",
                ),
                Arg(("--explain",), action="store_true", help="Show Spark's plan"),
                Arg(("--rows",), type=int, default=20, help="How many rows to show (default: 20)"),
                _DAGS,
                _OUTPUT,
            ),
        ),
        _command(
            "ddl",
            "ddl.show_ddl",
            "Show the SQL that makes the storage of an asset a table",
            "Show the statements that make the storage of an asset an external table of an SQL engine. Spark and "
            "Trino keep a list of the partitions: run the statements again when some have come or gone. No engine "
            "is asked, nothing is changed.",
            """
            airflow asset-partitions ddl airport_days > airport_days.sql; spark-sql -f airport_days.sql
            airflow asset-partitions ddl airport_days --engine duckdb --dags dags/flights.py | duckdb lake.duckdb
            airflow asset-partitions ddl airport_days --engine trino --table hive.lake.airport_days
            """,
            (
                Arg(("asset",), help="Name of the asset"),
                Arg(
                    ("--engine",),
                    choices=("spark", "duckdb", "trino"),
                    default="spark",
                    help="Whose SQL (default: spark)",
                ),
                Arg(("--table",), metavar="NAME", help="Name of the table (default: that of the asset)"),
                _DAGS,
            ),
        ),
        _command(
            "spark-server",
            "spark_server.spark_server",
            "Show what a Spark Connect server needs, or start one",
            "Show the jar and the three settings by which a Spark Connect server counts what its sessions read, and"
            " refuses what was not promised. With --start run such a server on this machine, for this machine only,"
            " until this command is ended: with a token, which is made on first use, and settings that suit small "
            "partitions. A server that dies is started again.",
            """
            airflow asset-partitions spark-server                              what a server of yours needs
            airflow asset-partitions spark-server --spark 4.0 --output json
            airflow asset-partitions spark-server --start                      a server on this machine, until Ctrl-C
            airflow asset-partitions spark-server --start --port 15010 --memory 4g --conf spark.sql.shuffle.partitions=8
            airflow asset-partitions spark-server --start --packages org.apache.hadoop:hadoop-aws:3.4.2
            """,
            (
                Arg(
                    ("--spark",),
                    metavar="VERSION",
                    help="Version of the server's Spark (default: the one here)",
                ),
                Arg(("--start",), action="store_true", help="Start a server"),
                Arg(("--port",), type=int, default=15002, help="Where it listens (default: 15002)"),
                Arg(("--memory",), metavar="SIZE", help="Memory of the server, as 4g (default: Spark's, 1g)"),
                Arg(
                    ("--conf",),
                    action="append",
                    metavar="NAME=VALUE",
                    default=[],
                    help="Setting of Spark; can be repeated",
                ),
                Arg(("--packages",), metavar="NAMES", help="Maven coordinates, with commas between"),
                Arg(("--jars",), metavar="PATHS", help="Jars, with commas between"),
                _OUTPUT,
            ),
        ),
        _command(
            "spark-classes",
            "spark_classes.write_classes",
            "Write an archive of Spark's classes, with which jobs start sooner",
            "Run a small Spark job on this machine and let Java keep the classes it loaded (some 170 MB). Shows the"
            " setting by which jobs submitted here start with them. Write it again after a change of Spark or Java:"
            " until then jobs start without it.",
            """
            airflow asset-partitions spark-classes /var/cache/spark-classes.jsa
            """,
            (Arg(("file",), help="Where to write it"),),
        ),
    )


def _control(name: str, operation: type[Operation], summary: str, description: str) -> ActionCommand:
    examples = f"""
        airflow asset-partitions {name} 17
        airflow asset-partitions {name} 17 18 23 --output json
    """
    numbers = Arg(("numbers",), type=int, nargs="+", metavar="NUMBER", help="Numbers of requests")
    own = numbers, *arguments(operation, without=("request",)), *SOURCE, OUTPUT
    return _command(name, f"requests.{name}", summary, description, examples, own, notes=_CONTROL_NOTES)
