"""What the tests of deadlines share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
