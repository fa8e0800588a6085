"""Data, and the Spark that makes it: the commands."""

from __future__ import annotations

from airflow.cli.cli_config import Arg, CLICommand

from airflow_partitions.operate.cli.commands.command import TABLE_OR_JSON, command

_DAGS = Arg(("--dags",), metavar="PATH", help="Dag file or folder (default: [core] dags_folder)")


def data() -> tuple[CLICommand, ...]:
    """Data, and the Spark that makes it."""
    return (
        command(
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
                TABLE_OR_JSON,
            ),
        ),
        command(
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
        command(
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
                TABLE_OR_JSON,
            ),
        ),
        command(
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
