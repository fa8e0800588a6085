"""Versions of the forms that are kept outside a process: in Airflow's database and in state stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_partitions.errors import UnknownVersionError


def check_version(form: Any, version: int, name: str) -> None:
    """Refuse a *form* of another version than the one that this release writes.

    :param name: of the form, for the message: ``"the ledger's page"``.
    :raises UnknownVersionError: naming both versions.
    """
    stored = form.get("version") if isinstance(form, Mapping) else None
    if stored != version:
        raise UnknownVersionError(
            f"{name} has version {stored!r}; expected {version}. Another release of airflow-partitions wrote it: run"
            " one release everywhere, or delete what the other one left"
        )
