"""Which partitions have been materialised, as Airflow's asset events tell it. For the scheduler and the API server."""

from airflow_partitions.history.events import in_flight, materialised

__all__ = ["in_flight", "materialised"]
