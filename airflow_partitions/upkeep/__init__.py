"""What keeps partitioned Dags quick and tidy beside the scheduler. Nothing that is correct depends on it."""

from airflow_partitions.upkeep.round import Round, one_round

__all__ = ["Round", "one_round"]
