"""The routes, in files by noun."""
