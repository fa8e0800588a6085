"""The second demo: a day of flights in tables of Iceberg, one mistake in it, and what other readers see."""
