"""What the tests of states share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
