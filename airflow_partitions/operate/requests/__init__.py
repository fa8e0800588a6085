"""What a person asks for: partitions made, marked as materialised, or forgotten."""
