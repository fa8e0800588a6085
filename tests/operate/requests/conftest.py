"""What the tests of requests share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
