"""REST under ``/asset-partitions/api/v1`` of Airflow's API server."""
