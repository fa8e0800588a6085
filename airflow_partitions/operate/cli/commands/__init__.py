"""The commands in the form of Airflow's CLI; the code of one is loaded when it is called.

Arguments follow from the contracts of operations; what a command says of itself, and its examples, stand here.
"""

from __future__ import annotations

from airflow.cli.cli_config import CLICommand, GroupCommand

from airflow_partitions.operate.cli.commands.correction_commands import corrections
from airflow_partitions.operate.cli.commands.data_commands import data
from airflow_partitions.operate.cli.commands.request_commands import requests
from airflow_partitions.operate.cli.commands.state_commands import states
from airflow_partitions.operate.cli.commands.upkeep_commands import upkeep


def get_commands() -> list[CLICommand]:
    """The group ``asset-partitions``."""
    commands = (*states(), *requests(), *corrections(), *upkeep(), *data())
    return [GroupCommand(name="asset-partitions", help="Partitions of assets", subcommands=commands)]
