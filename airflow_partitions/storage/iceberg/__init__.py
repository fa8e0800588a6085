"""Partitions in tables of Iceberg."""
