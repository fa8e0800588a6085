"""Batches: one run of a Dag makes the partitions of others that are queued, each of which keeps its own outcome."""
