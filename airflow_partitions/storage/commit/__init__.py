"""Commits: staged files take the place of stored ones, all of them or none."""
