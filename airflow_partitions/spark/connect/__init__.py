"""Jobs that run in the Airflow task, by a session of a running Spark Connect server."""
