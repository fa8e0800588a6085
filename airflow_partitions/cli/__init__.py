"""``airflow asset-partitions …``."""
