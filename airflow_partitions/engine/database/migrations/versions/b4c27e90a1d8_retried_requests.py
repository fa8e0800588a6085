"""Requests that are being retried."""

from __future__ import annotations

import sqlalchemy as sa
from airflow.utils.sqlalchemy import UtcDateTime
from alembic import op

revision = "b4c27e90a1d8"
down_revision = "9c2e51a7d083"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    with op.batch_alter_table("asset_partitions_request", schema=None) as batch_op:
        batch_op.add_column(sa.Column("retried", UtcDateTime(), nullable=True))


def downgrade() -> None:
    """Take back."""
    with op.batch_alter_table("asset_partitions_request", schema=None) as batch_op:
        batch_op.drop_column("retried")
