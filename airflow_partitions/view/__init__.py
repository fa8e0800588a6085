"""The partitions view: pages in Airflow's own UI. Their sources are in ``www/``, built into ``dist/``."""
