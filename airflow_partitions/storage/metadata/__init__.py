"""What is known of a partition: its files, its schema, who wrote it and how."""
