"""What the tests of the graph share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
