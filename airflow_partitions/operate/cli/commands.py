"""The commands in the form of Airflow's CLI; the code of one is loaded when it is called."""

from __future__ import annotations

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

from airflow_partitions.operate.cli.output import OUTPUT
from airflow_partitions.operate.cli.selection import SelectionArg
from airflow_partitions.operate.cli.source import SOURCE

_ASSET = Arg(("asset",), help="Name of the asset")
_DRY_RUN = Arg(("--dry-run",), action="store_true", help="Change nothing, only tell")
_REASON = Arg(("--reason",), metavar="TEXT", default="", help="Why; it is kept"), _DRY_RUN
_OUTPUT = Arg(("-o", "--output"), choices=("table", "json"), default="table", help="How to show it")
_STATES = ("running", "queued", "failed", "stale", "materialized", "skipped", "waiting", "missing")


def _selection(number: str = "*") -> Arg:
    return SelectionArg(  # type: ignore[no-untyped-call]
        ("select",),
        nargs=number,
        metavar="SELECTION",
        help="Keys, 2013-03, A..B (not including B), latest or all, and conditions such as '& airport in JFK,LGA'",
    )


def _only(states: tuple[str, ...]) -> Arg:
    return Arg(
        ("--only",),
        action="append",
        metavar="STATE",
        choices=states,
        help="Only those in this state: missing, failed, stale, …; can be repeated",
    )


_CHOICE = (
    _ASSET,
    _selection(),
    _only(_STATES[2:]),
    Arg(("--upstream",), action="store_true", help="Make first what they need and is missing"),
)
_UPKEEP_EXAMPLES = """
examples:
  airflow asset-partitions upkeep                      one round, for cron
  airflow asset-partitions upkeep --loop               a service; start as many as you like, one works
  airflow asset-partitions upkeep --loop --interval 2 --output json
"""
_MARK_EXAMPLES = """
examples:
  airflow asset-partitions mark hourly_flights 2013-03-10T05:00-04:00 --reason 'loaded by hand'
  airflow asset-partitions mark airport_days '2013-03-01..2013-03-10 & airport in JFK,LGA' --quiet --dry-run
  AIRFLOW_CLI_TOKEN=… airflow asset-partitions mark hourly_flights latest --url https://airflow.example.com
"""
_FORGET_EXAMPLES = """
examples:
  airflow asset-partitions forget hourly_flights 2013-03-10 --reason 'rows are missing' --dry-run
  airflow asset-partitions forget hourly_flights 2013-03-10 --reason 'rows are missing'
"""
_REMEMBER_EXAMPLES = """
examples:
  airflow asset-partitions remember hourly_flights 2013-03-10 --dry-run
  airflow asset-partitions remember hourly_flights 2013-03-10
"""
_ADOPT_EXAMPLES = """
examples:
  airflow asset-partitions adopt hourly_flights --from-storage --dry-run
  airflow asset-partitions adopt hourly_flights --from-storage
  airflow asset-partitions adopt departures --from-asset hourly_flights --output json
"""
_KEYS_EXAMPLES = """
examples:
  airflow asset-partitions keys hourly_flights
  airflow asset-partitions keys airport_days '2013-03-01..2013-03-10 & airport in JFK,LGA' --oldest-first
  airflow asset-partitions keys airport_days --dimension airport --output plain
  airflow asset-partitions keys active_customers --add ann --add bob --metadata '{"since": 2013}'
  airflow asset-partitions keys active_customers --remove ann
  AIRFLOW_CLI_TOKEN=… airflow asset-partitions keys hourly_flights --url https://airflow.example.com
"""
_RECONCILE_EXAMPLES = """
examples:
  airflow asset-partitions reconcile
  airflow asset-partitions reconcile hourly_flights daily_delays --output json
"""
_DOWNGRADE_EXAMPLES = """
examples:
  airflow asset-partitions downgrade --to-version 0.1.0          before an older release is installed
  airflow asset-partitions downgrade --to-revision base --yes    drop all tables, before the package is uninstalled
  airflow asset-partitions downgrade --to-revision base --show-sql-only
"""
_MAINTAIN_EXAMPLES = """
examples:
  airflow asset-partitions maintain --dry-run
  airflow asset-partitions maintain fares --dry-run --output json
  airflow asset-partitions maintain fares
"""
_LIST_EXAMPLES = """
examples:
  airflow asset-partitions list
  airflow asset-partitions list --search flights --output json
"""
_STATUS_EXAMPLES = """
examples:
  airflow asset-partitions status hourly_flights
  airflow asset-partitions status hourly_flights --from 2013-03-01 --until 2013-04-01
  airflow asset-partitions status airport_days 'airport in JFK,LGA' --only missing --only failed
  airflow asset-partitions status hourly_flights --only missing --output plain | cut -f 2,3
exit status: 0 if all of them are materialized and up to date, else 1
"""
_EXPLAIN_EXAMPLES = """
examples:
  airflow asset-partitions explain daily_delays 2013-02-08
  airflow asset-partitions explain airport_days '2013-02-08|JFK' --output json
  AIRFLOW_CLI_TOKEN=… airflow asset-partitions explain daily_delays 2013-02-08 --url https://airflow.example.com
"""
_RECORDS_EXAMPLES = """
examples:
  airflow asset-partitions records hourly_flights
  airflow asset-partitions records hourly_flights --from 2013-03-10 --until 2013-03-11
  airflow asset-partitions records hourly_flights --from 2013-11-03T01:00-04:00 --output json
"""
_DOCTOR_EXAMPLES = """
examples:
  airflow asset-partitions doctor
  airflow asset-partitions doctor --output json
"""
_DDL_EXAMPLES = """
examples:
  airflow asset-partitions ddl airport_days > airport_days.sql; spark-sql -f airport_days.sql
  airflow asset-partitions ddl airport_days --engine duckdb --dags dags/flights.py | duckdb lake.duckdb
  airflow asset-partitions ddl airport_days --engine trino --table hive.lake.airport_days
"""
_SPARK_SERVER_EXAMPLES = """
examples:
  airflow asset-partitions spark-server                              what a server of yours needs
  airflow asset-partitions spark-server --spark 4.0 --output json
  airflow asset-partitions spark-server --start                      a server on this machine, until Ctrl-C
  airflow asset-partitions spark-server --start --port 15010 --memory 4g --conf spark.sql.shuffle.partitions=8
  airflow asset-partitions spark-server --start --packages org.apache.hadoop:hadoop-aws:3.4.2
"""
_CLASSES_EXAMPLES = """
examples:
  airflow asset-partitions spark-classes /var/cache/spark-classes.jsa
"""
_EXAMPLES = """
examples:
  airflow asset-partitions test hourly_flights 2013-02-08T05:00-05:00
  airflow asset-partitions test airport_days '2013-02-08|JFK' --input flights=/tmp/sample.parquet --explain
  airflow asset-partitions test airport_days '2013-02-08|JFK' --dags dags/flights.py --output json
"""

_PLAN_EXAMPLES = """
examples:
  airflow asset-partitions plan hourly_flights 2013-03
  airflow asset-partitions plan airport_days '2013-03-01..2013-03-10 & airport in JFK,LGA' --only missing --upstream
  airflow asset-partitions plan hourly_flights latest --downstream --output json
"""
_MATERIALIZE_EXAMPLES = """
examples:
  airflow asset-partitions materialize hourly_flights 2013-03 --only missing --wait
  airflow asset-partitions materialize airport_days '2013-03-08|JFK' '2013-03-09|JFK' --label 'late files'
  airflow asset-partitions materialize daily_delays 2013-02..2013-04 --upstream --newest-first --stop-at-failure
  airflow asset-partitions materialize daily_delays --only failed --concurrency 4 --dry-run

exit status:
  0  asked for, or with --wait: all was made      1  refused, with the reason
  3  with --wait: some failed                     4  with --wait: cancelled, paused, or stopped at a failure
"""
_REQUESTS_EXAMPLES = """
examples:
  airflow asset-partitions requests
  airflow asset-partitions requests hourly_flights
  airflow asset-partitions requests hourly_flights --limit 1 --output json
"""
_REQUEST_EXAMPLES = """
examples:
  airflow asset-partitions {0} 17
  airflow asset-partitions {0} 17 --output json
"""
_NUMBER = Arg(("request",), type=int, metavar="NUMBER", help="Number of the request, as requests shows it")


def _control(name: str, summary: str, description: str) -> ActionCommand:
    return ActionCommand(
        name=name,
        help=summary,
        description=description,
        epilog=_REQUEST_EXAMPLES.format(name),
        func=lazy_load_command(f"airflow_partitions.operate.cli.requests.{name}"),
        args=(
            _NUMBER,
            Arg(("--dry-run",), action="store_true", help="Change nothing, only show how far it is"),
            *SOURCE,
            OUTPUT,
        ),
    )


def get_commands() -> list[CLICommand]:
    """The group ``asset-partitions``."""
    return [
        GroupCommand(
            name="asset-partitions",
            help="Partitions of assets",
            subcommands=(
                ActionCommand(
                    name="test",
                    help="Make one partition in this process, in a scratch place",
                    description="Make one partition of an asset in this process: Spark runs on local[2], what it makes"
                    " is shown and thrown away. No event is sent, no database is touched.",
                    epilog=_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.test.test_partition"),
                    args=(
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
                        Arg(("--dags",), metavar="PATH", help="Dag file or folder (default: [core] dags_folder)"),
                        _OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="ddl",
                    help="Show the SQL that makes the storage of an asset a table",
                    description="Show the statements that make the storage of an asset an external table of an SQL"
                    " engine. Spark and Trino keep a list of the partitions: run the statements again when some have"
                    " come or gone. No engine is asked, nothing is changed.",
                    epilog=_DDL_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.ddl.show_ddl"),
                    args=(
                        Arg(("asset",), help="Name of the asset"),
                        Arg(
                            ("--engine",),
                            choices=("spark", "duckdb", "trino"),
                            default="spark",
                            help="Whose SQL (default: spark)",
                        ),
                        Arg(("--table",), metavar="NAME", help="Name of the table (default: that of the asset)"),
                        Arg(("--dags",), metavar="PATH", help="Dag file or folder (default: [core] dags_folder)"),
                    ),
                ),
                ActionCommand(
                    name="upkeep",
                    help="Keep ledgers, paused consumers, pending rows and tables in order",
                    description="Write what was materialized to the ledgers, ask for partitions whose upstream events"
                    " came while a Dag was paused, delete pending rows that can never fire, and once a day keep the"
                    " tables of assets small that say maintenance=. Of several processes one works, the others stand"
                    " by. Nothing is lost when none runs.",
                    epilog=_UPKEEP_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.upkeep.upkeep"),
                    args=(
                        Arg(("--loop",), action="store_true", help="Go on until the process is ended"),
                        Arg(("--check",), action="store_true", help="Only say whether a process is alive: exit 0 or 1"),
                        Arg(("--interval",), type=float, default=5.0, help="Seconds between rounds (default: 5)"),
                        _OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="maintain",
                    help="Keep the tables of assets small now",
                    description="Forget old snapshots of the tables of assets that say maintenance=, write their"
                    " manifests anew, remove files that nobody names, and merge small files where they say so: what"
                    " upkeep does once a day.",
                    epilog=_MAINTAIN_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.maintain.maintain_tables"),
                    args=(
                        Arg(("assets",), nargs="*", metavar="asset", help="Names of assets (default: all)"),
                        Arg(("--dry-run",), action="store_true", help="Change nothing, only tell"),
                        _OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="reconcile",
                    help="Make ledgers again from all events",
                    description="Read all events of the assets again and write what is missing in their ledgers, for"
                    " example after a database was restored from a backup.",
                    epilog=_RECONCILE_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.upkeep.reconcile"),
                    args=(
                        Arg(("assets",), nargs="*", metavar="asset", help="Names of assets (default: all)"),
                        *SOURCE,
                        _OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="downgrade",
                    help="Take the tables of this package back to an older release, or drop them",
                    description="Take the tables of this package in Airflow's database back to those of an older"
                    " release of it, or drop them all with all that they hold. Airflow's own tables are not touched."
                    " Stop Airflow before. To make them, or bring them to this release: airflow db migrate.",
                    epilog=_DOWNGRADE_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.downgrade.downgrade"),
                    args=(
                        Arg(("-n", "--to-version"), metavar="RELEASE", help="Release of this package to go back to"),
                        Arg(
                            ("-r", "--to-revision"), metavar="REVISION", help="Revision to go back to; base: no tables"
                        ),
                        ARG_DB_SQL_ONLY,
                        ARG_DB_FROM_REVISION,
                        ARG_DB_FROM_VERSION,
                        ARG_YES,
                    ),
                ),
                ActionCommand(
                    name="mark",
                    help="Mark partitions as materialized, without a run",
                    description="Mark partitions as materialized now, without a run: an event is sent for each, and"
                    " what is downstream runs for it, unless it is --quiet. Storage is not touched.",
                    epilog=_MARK_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.corrections.mark"),
                    args=(
                        _ASSET,
                        _selection("+"),
                        *_REASON,
                        Arg(("--quiet",), action="store_true", help="Let nothing downstream run for it"),
                        *SOURCE,
                        OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="forget",
                    help="Let partitions count as missing",
                    description="Let partitions count as missing until they are materialized again, or marked. Storage"
                    " is not touched, nothing runs for it, and Airflow's own pages show their events as before. To take"
                    " it back, remember them.",
                    epilog=_FORGET_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.corrections.forget"),
                    args=(_ASSET, _selection("+"), *_REASON, *SOURCE, OUTPUT),
                ),
                ActionCommand(
                    name="remember",
                    help="Take back that partitions were forgotten",
                    description="Let partitions that were forgotten count as materialized again, when and by whom they"
                    " were. Nothing runs for it. Those that were not forgotten, or were materialized since, stay as"
                    " they are.",
                    epilog=_REMEMBER_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.corrections.remember"),
                    args=(_ASSET, _selection("+"), _DRY_RUN, *SOURCE, OUTPUT),
                ),
                ActionCommand(
                    name="adopt",
                    help="Take over partitions that are there already",
                    description="Take what exists into the ledger of an asset: what is in its storage, or what it had"
                    " materialized under another name. It is quiet: no event is sent, nothing runs for it. What was"
                    " published while its event was lost is mended by --from-storage, too. It can be repeated.",
                    epilog=_ADOPT_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.corrections.adopt"),
                    args=(
                        _ASSET,
                        Arg(("--from-storage",), action="store_true", help="Take over what is stored"),
                        Arg(("--from-asset",), metavar="NAME", help="Take over what the asset called so before made"),
                        _DRY_RUN,
                        *SOURCE,
                        OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="keys",
                    help="Show the valid keys of an asset, or add and remove some",
                    description="Show the keys of the partitions of an asset whose interval is over, whether they were"
                    " materialized or not: what may be asked for. The newest intervals come first. Keys that are known"
                    " only at runtime can be added and removed, as the asset's task does.",
                    epilog=_KEYS_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.keys.keys"),
                    args=(
                        _ASSET,
                        _selection(),
                        Arg(("--search",), metavar="TEXT", help="Only those with this part, in capitals or not"),
                        Arg(("--dimension",), metavar="NAME", help="The keys of this dimension alone"),
                        Arg(("--oldest-first",), action="store_true", help="Oldest intervals first"),
                        Arg(("--limit",), type=int, default=100, help="The most to show, up to 1000 (default: 100)"),
                        Arg(("--after",), metavar="KEY", help="Go on after this key"),
                        Arg(("--add",), action="append", metavar="KEY", help="Add this key; can be repeated"),
                        Arg(("--remove",), action="append", metavar="KEY", help="Remove this key; can be repeated"),
                        Arg(("--metadata",), metavar="JSON", help="To keep with each key that is added"),
                        Arg(("--once",), action="store_true", help="Add only those that are not there"),
                        *_REASON,
                        *SOURCE,
                        OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="plan",
                    help="Show which partitions a request would make",
                    description="Show which partitions materialize would make, of which assets, in which order, and the"
                    " usual time and size of them. Changes nothing.",
                    epilog=_PLAN_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.plan.plan"),
                    args=(
                        *_CHOICE,
                        Arg(("--downstream",), action="store_true", help="Also what events make again because of it"),
                        *SOURCE,
                        OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="materialize",
                    help="Ask for partitions to be made, also again",
                    description="Ask for partitions: a run for each, or a new try of the run that it has. The request"
                    " is a backfill of Airflow with exactly these partitions, and has its number. Runs of the schedule"
                    " begin before those of a request. What is asked for already, or being made, is refused.",
                    epilog=_MATERIALIZE_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.materialize.materialize"),
                    args=(
                        *_CHOICE,
                        Arg(("--concurrency",), type=int, default=16, help="The most runs at a time (default: 16)"),
                        Arg(("--newest-first",), action="store_true", help="Begin with the newest partition"),
                        Arg(("--stop-at-failure",), action="store_true", help="Begin no more once one has failed"),
                        Arg(("--label",), default="", metavar="TEXT", help="For the note of every run"),
                        Arg(("--conf",), metavar="JSON", help="Configuration of every run"),
                        Arg(
                            ("--while-paused",),
                            action="store_true",
                            help="Also if the Dag is paused; its schedule begins no other runs",
                        ),
                        Arg(("--dry-run",), action="store_true", help="Only show the plan"),
                        Arg(("--wait",), action="store_true", help="Wait until the requests have ended"),
                        *SOURCE,
                        OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="requests",
                    help="Show the requests for partitions",
                    description="Show the requests for partitions, the newest first, and how far they are.",
                    epilog=_REQUESTS_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.requests.list_requests"),
                    args=(
                        Arg(("asset",), nargs="?", help="Name of the asset (default: all)"),
                        Arg(("--limit",), type=int, default=20, help="The most to show, up to 1000 (default: 20)"),
                        Arg(("--after",), metavar="NUMBER", help="Go on after this request"),
                        *SOURCE,
                        OUTPUT,
                    ),
                ),
                _control("pause", "Pause a request", "Begin no more runs of a request; those that run go on."),
                _control(
                    "resume",
                    "Go on with a request",
                    "Begin runs again of a request that was paused, stopped at a failure, or whose maker was killed.",
                ),
                _control(
                    "cancel",
                    "Cancel a request",
                    "Begin no more runs of a request. As with a backfill of Airflow, runs that have not begun fail, and"
                    " those that run go on.",
                ),
                _control(
                    "retry", "Repeat what failed of a request", "Let the runs of a request that failed work again."
                ),
                ActionCommand(
                    name="list",
                    help="Show the assets that have partitions",
                    description="Show the assets that have partitions, with their definitions, and how many of their"
                    " partitions are in which state.",
                    epilog=_LIST_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.status.assets"),
                    args=(
                        Arg(("--search",), metavar="TEXT", help="Only those with this part in their name"),
                        *SOURCE,
                        OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="status",
                    help="Show the states of an asset's partitions",
                    description="Show which partitions of an asset are materialized, missing, failed, running, queued,"
                    " stale, skipped, or waiting and for what: as a strip in which each character stands for the same"
                    " time, and as stretches of one state, the newest first. Right at this moment, whether or not"
                    " upkeep runs. Exit status 1 if something is not materialized, or not up to date.",
                    epilog=_STATUS_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.status.status"),
                    args=(
                        _ASSET,
                        _selection(),
                        Arg(("--from",), dest="start", metavar="TIME", help="Only intervals that begin from then on"),
                        Arg(("--until",), metavar="TIME", help="Only intervals that begin before it"),
                        _only(_STATES),
                        Arg(("--limit",), type=int, default=40, help="The most stretches to show (default: 40)"),
                        *SOURCE,
                        OUTPUT,
                    ),
                ),
                ActionCommand(
                    name="explain",
                    help="Say all of one partition, and why it is what it is",
                    description="Say in words why a partition waits, is stale, failed, was skipped or is missing; what"
                    " it needs and what of that is there; its runs and tries; rows, files and bytes over time; and what"
                    " needs it.",
                    epilog=_EXPLAIN_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.status.explain"),
                    args=(_ASSET, Arg(("key",), help="Key of the partition, as its runs show it"), *SOURCE, OUTPUT),
                ),
                ActionCommand(
                    name="records",
                    help="Show which partitions of an asset were materialized",
                    description="Show which partitions of an asset were materialized, when, and by which run: what"
                    " Airflow's events tell, and what upkeep has noted of events that Airflow has purged since.",
                    epilog=_RECORDS_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.records.show_records"),
                    args=(
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
                ActionCommand(
                    name="spark-server",
                    help="Show what a Spark Connect server needs, or start one",
                    description="Show the jar and the three settings by which a Spark Connect server counts what its"
                    " sessions read, and refuses what was not promised. With --start run such a server on this machine,"
                    " for this machine only, until this command is ended: with a token, which is made on first use, and"
                    " settings that suit small partitions. A server that dies is started again.",
                    epilog=_SPARK_SERVER_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.spark_server.spark_server"),
                    args=(
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
                ActionCommand(
                    name="spark-classes",
                    help="Write an archive of Spark's classes, with which jobs start sooner",
                    description="Run a small Spark job on this machine and let Java keep the classes it loaded (some"
                    " 170 MB). Shows the setting by which jobs submitted here start with them. Write it again after a"
                    " change of Spark or Java: until then jobs start without it.",
                    epilog=_CLASSES_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.spark_classes.write_classes"),
                    args=(Arg(("file",), help="Where to write it"),),
                ),
                ActionCommand(
                    name="doctor",
                    help="Say what can't work as the Dags are now",
                    description="Look at all Dags, whatever file or bundle they are in, and say what can never run:"
                    " Dags that wait for each other, upstream assets nobody makes partitions of, and Dags that can't"
                    " be read. Also what is wrong in the assets' state stores: cells that can't be read, and records of"
                    " partitions that no event and no run explains. Exit status 1 if there is something. Also notes on"
                    " the installation, which don't change the exit status: plugin, upkeep, executor, Spark's"
                    " connection, Java, storage. Changes nothing.",
                    epilog=_DOCTOR_EXAMPLES,
                    func=lazy_load_command("airflow_partitions.operate.cli.doctor.examine"),
                    args=(*SOURCE, _OUTPUT),
                ),
            ),
        )
    ]
