"""States of partitions: what each is, and why."""

from airflow_partitions.operate.state import State
from airflow_partitions.operate.states.explanation import Explanation, explain
from airflow_partitions.operate.states.pages import StateCounts, StatePage, counts, states_of
from airflow_partitions.operate.states.stretch import Stretch

__all__ = ["Explanation", "State", "StateCounts", "StatePage", "Stretch", "counts", "explain", "states_of"]
