"""History of materialized partitions, from Airflow's asset events. For the scheduler and the API server."""
