"""Which partitions have been materialised, as Airflow's asset events tell it. For the scheduler and the API server."""

from airflow_partitions.history.ledger import records
from airflow_partitions.history.record import Record
from airflow_partitions.history.view import History

__all__ = ["History", "Record", "records"]
