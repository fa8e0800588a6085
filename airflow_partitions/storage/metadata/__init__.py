"""Metadata of partitions: their files, schema and writers."""
