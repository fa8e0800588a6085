"""What the tests of what is broken or absent share."""

from tests.metadata import engine, metadata
from tests.operate.absent.sound_estate import copy, estate, folder

__all__ = ["copy", "engine", "estate", "folder", "metadata"]
