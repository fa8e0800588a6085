"""Consumers: partitions taken step by step, each once."""
