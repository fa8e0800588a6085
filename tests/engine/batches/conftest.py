"""What the tests of batches share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
