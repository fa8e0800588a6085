"""What the tests of trials share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session", autouse=True)
def one_session(spark: SparkSession) -> None:
    """Trials take the session that is there: theirs would be that of all tests after them, without their packages."""
