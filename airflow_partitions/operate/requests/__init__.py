"""What a person asks for: partitions made, marked as materialized, or forgotten."""
