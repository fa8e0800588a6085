"""Filters: conditions on partitions and on their rows."""
