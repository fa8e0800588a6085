"""What the tests of the commands share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
