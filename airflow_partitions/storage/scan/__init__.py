"""Scans: which partitions and files are read."""
