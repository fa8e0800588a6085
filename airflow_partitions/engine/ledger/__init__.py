"""History of materialised partitions, from Airflow's asset events. For the scheduler and the API server."""
