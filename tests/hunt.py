"""How far the state machines look.

By default they take the same few sequences each time. With ``HUNT=20`` in the environment they take twenty times as
many, at random.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

HUNT = int(os.environ.get("HUNT", "1"))


def effort(examples: int, steps: int) -> settings:
    """Settings for so many *examples* of so many *steps*, or a multiple of them."""
    return settings(
        max_examples=examples * HUNT,
        stateful_step_count=steps,
        derandomize=HUNT == 1,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
