"""The revision of our tables that this release works with."""

from __future__ import annotations

#: Alembic's own table of the revision that a database has.
VERSION_TABLE = "alembic_version_asset_partitions"
#: The newest revision of each release that brought one.
REVISIONS = {"0.1.0": "6d1f0c2b7a45", "0.2.0": "e81d4f60b2c7"}
#: What this release works with.
REVISION = REVISIONS["0.2.0"]
#: How the tables come to be.
COMMAND = "airflow db migrate"


def problem(stored: str | None) -> str | None:
    """What is wrong with the *stored* revision, as a sentence with the way out; ``None`` if nothing is."""
    if stored == REVISION:
        return None
    if stored is None:
        return f"the tables of airflow-partitions are not in Airflow's database yet; run: {COMMAND}"
    if stored in REVISIONS.values():
        return f"the tables of airflow-partitions are those of an older release (revision {stored}); run: {COMMAND}"
    return (
        f"the tables of airflow-partitions are those of a newer release (revision {stored}, expected {REVISION}):"
        " run one release everywhere, or downgrade them with that one"
    )
