"""The commands, as Airflow's CLI wants them; what they do is loaded when one is called."""

from __future__ import annotations

from airflow.cli.cli_config import ActionCommand, Arg, CLICommand, GroupCommand, lazy_load_command

_EXAMPLES = """
examples:
  airflow asset-partitions test hourly_flights 2013-02-08T05:00-05:00
  airflow asset-partitions test airport_days '2013-02-08|JFK' --input flights=/tmp/sample.parquet --explain
  airflow asset-partitions test airport_days '2013-02-08|JFK' --dags dags/flights.py --output json
"""


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
                    func=lazy_load_command("airflow_partitions.cli.test.test_partition"),
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
                        Arg(("-o", "--output"), choices=("table", "json"), default="table", help="How to show it"),
                    ),
                ),
            ),
        )
    ]
