"""What the tests of what is broken or absent share."""

from tests.metadata import engine, metadata
from tests.operate.absent.sound_estate import estate

__all__ = ["engine", "estate", "metadata"]
