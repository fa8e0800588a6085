"""How hard the laws are tried: quickly by default; ``--hypothesis-profile thorough`` tries longer."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("quick", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=2_000)
settings.load_profile("quick")
