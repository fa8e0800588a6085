"""The flights pipeline as in production, on one machine: PostgreSQL, S3, Spark's master, and two schedulers."""
