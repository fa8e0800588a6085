"""What the tests of tasks share."""

from tests.metadata import engine, metadata
from tests.supervisor import supervisor

__all__ = ["engine", "metadata", "supervisor"]
