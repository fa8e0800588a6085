"""A program of an author, for the tests: ``spark-submit program.py``."""

from airflow_partitions.spark import job

if __name__ == "__main__":
    with job() as j:
        flights = j.read("flights")
        j.write(flights.where(flights.origin == j.partition["airport"]).groupBy("origin").count())
    j.spark.stop()
