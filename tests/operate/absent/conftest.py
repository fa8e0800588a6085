"""What the tests of what is broken or absent share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
