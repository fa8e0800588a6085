"""The demo: a year of flights and weather, one day of it processed by Spark under Airflow, checked against pandas."""
