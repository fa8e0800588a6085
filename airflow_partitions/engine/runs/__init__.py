"""The run of a partition: its context, its claim, and the keys that it adds."""
