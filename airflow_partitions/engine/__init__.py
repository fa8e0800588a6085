"""The engine: which runs are due, what each does, and the ledger of what is there, on Airflow's own partition hooks."""
