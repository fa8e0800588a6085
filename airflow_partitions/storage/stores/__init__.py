"""Stores: the partitions of a dataset, by folders on a local disk or by a log of commits."""
