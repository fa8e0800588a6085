"""What the tests of upkeep share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
