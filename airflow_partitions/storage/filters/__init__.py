"""Which partitions, and which of their rows, are asked for."""
