"""States of partitions: what each is, and why."""

from airflow_partitions.states.pages import StateCounts, StatePage, counts, states_of
from airflow_partitions.states.state import State
from airflow_partitions.states.stretch import Stretch

__all__ = ["State", "StateCounts", "StatePage", "Stretch", "counts", "states_of"]
