"""The demo: a year of flights and weather, some days of it processed under Airflow, checked against pandas."""
