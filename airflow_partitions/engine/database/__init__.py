"""Airflow's database: how it is reached, and our own tables in it, which Airflow's ``db migrate`` makes."""
