"""The graph of the partitioned Dags of an Airflow, over the assets between them."""
