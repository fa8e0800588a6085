"""What the tests of trials share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def one_session(request: pytest.FixtureRequest) -> None:
    """Trials take the session that is there: theirs would be that of all tests after them, without their packages."""
    if request.node.get_closest_marker("spark"):
        request.getfixturevalue("spark")
