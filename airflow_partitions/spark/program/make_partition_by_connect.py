"""The program of a process whose client is of the Spark of a server; its standard input tells what to do."""

from __future__ import annotations

if __name__ == "__main__":
    from airflow_partitions.spark.connect.client_driver import main

    main()
