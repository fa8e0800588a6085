"""The commands, as Airflow's CLI wants them; what they do is loaded when one is called."""

from __future__ import annotations


def get_commands() -> list:
    return []
