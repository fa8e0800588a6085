"""Upkeep of ledgers, paused consumers and pending rows, beside the scheduler. Correctness never depends on it."""

from airflow_partitions.operate.upkeep.round import Round, Upkeep, one_round

__all__ = ["Round", "Upkeep", "one_round"]
