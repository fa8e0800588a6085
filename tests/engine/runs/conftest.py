"""What the tests of runs share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
