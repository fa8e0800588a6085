"""Runs that another one makes together with its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "9c2e51a7d083"
down_revision = "6d1f0c2b7a45"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "asset_partitions_batch_member",
        sa.Column("run_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("leader_id", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=8), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("run_id", name=op.f("asset_partitions_batch_member_pkey")),
    )
    with op.batch_alter_table("asset_partitions_batch_member", schema=None) as batch_op:
        batch_op.create_index("idx_asset_partitions_batch_member_leader_id", ["leader_id"], unique=False)


def downgrade() -> None:
    """Take back."""
    op.drop_table("asset_partitions_batch_member")
