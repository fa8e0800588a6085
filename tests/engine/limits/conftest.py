"""What the tests of limits share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
