"""Which partitions have been materialised, as Airflow's asset events tell it. For the scheduler and the API server."""
