"""What people write in Dag files: assets, partitions that others make, tasks about partitions, deadlines, trials."""
