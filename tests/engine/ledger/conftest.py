"""What the tests of the ledger share."""

from tests.metadata import engine, metadata

__all__ = ["engine", "metadata"]
