"""Runs at work on a value of which only a few may be, and those that wait for them."""

from __future__ import annotations

import sqlalchemy as sa
from airflow.utils.sqlalchemy import UtcDateTime
from alembic import op

revision = "e81d4f60b2c7"
down_revision = "b4c27e90a1d8"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "asset_partitions_limited_run",
        sa.Column("run_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "name",
            sa.String(length=500).with_variant(sa.String(length=500, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column(
            "value",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("run_after", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", "name", "value", name=op.f("asset_partitions_limited_run_pkey")),
    )
    with op.batch_alter_table("asset_partitions_limited_run", schema=None) as batch_op:
        batch_op.create_index("idx_asset_partitions_limited_run_value", ["name", "value"], unique=False)


def downgrade() -> None:
    """Take back."""
    op.drop_table("asset_partitions_limited_run")
