"""The catalog of tables that name none."""

from __future__ import annotations

#: Airflow's own name of the connection to a catalog.
DEFAULT_CATALOG = "iceberg_default"
