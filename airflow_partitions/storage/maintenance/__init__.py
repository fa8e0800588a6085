"""Few files, and no partitions beyond their time."""
