"""Limits: only so many runs of one value of a dimension are at work at a time; the others stay queued."""
