"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from airflow.utils.sqlalchemy import UtcDateTime
from alembic import op

revision = "6d1f0c2b7a45"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "asset_partitions_asset",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "name",
            sa.String(length=1500).with_variant(sa.String(length=1500, collation="latin1_general_cs"), "mysql"),
            nullable=False,
        ),
        sa.Column(
            "uri",
            sa.String(length=1500).with_variant(sa.String(length=1500, collation="latin1_general_cs"), "mysql"),
            nullable=False,
        ),
        sa.Column("meaning", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("event", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("until", UtcDateTime(), nullable=True),
        sa.Column("changes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("corrections", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("unpublished", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("maintained_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("asset_partitions_asset_pkey")),
    )
    with op.batch_alter_table("asset_partitions_asset", schema=None) as batch_op:
        batch_op.create_index("idx_asset_partitions_asset_name", ["name"], unique=False)

    op.create_table(
        "asset_partitions_dag",
        sa.Column(
            "dag_id",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("locked_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("dag_id", name=op.f("asset_partitions_dag_pkey")),
    )
    op.create_table(
        "asset_partitions_key_list",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "name",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cell_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("asset_partitions_key_list_pkey")),
        sa.UniqueConstraint("name", name=op.f("asset_partitions_key_list_name_uq")),
    )
    op.create_table(
        "asset_partitions_request",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "asset",
            sa.String(length=1500).with_variant(sa.String(length=1500, collation="latin1_general_cs"), "mysql"),
            nullable=False,
        ),
        sa.Column(
            "dag_id",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("selection", sa.JSON(), nullable=False),
        sa.Column("partitions", sa.Integer(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("newest_first", sa.Boolean(), nullable=False),
        sa.Column("stop_at_failure", sa.Boolean(), nullable=False),
        sa.Column("while_paused", sa.Boolean(), nullable=False),
        sa.Column("label", sa.Text().with_variant(sa.Text(length=16000000), "mysql"), nullable=False),
        sa.Column("conf", sa.JSON(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("by", sa.String(length=512), nullable=False),
        sa.Column("created", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cancelled", UtcDateTime(), nullable=True),
        sa.Column("written_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("asset_partitions_request_pkey")),
    )
    with op.batch_alter_table("asset_partitions_request", schema=None) as batch_op:
        batch_op.create_index("idx_asset_partitions_request_asker", ["by"], unique=False)
        batch_op.create_index("idx_asset_partitions_request_dag_id", ["dag_id"], unique=False)

    op.create_table(
        "asset_partitions_run_request",
        sa.Column(
            "dag_id",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column(
            "key",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("event", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("run", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("dag_id", "key", name=op.f("asset_partitions_run_request_pkey")),
    )
    op.create_table(
        "asset_partitions_task_request",
        sa.Column("id", sa.String(length=250), nullable=False),
        sa.Column(
            "asset",
            sa.String(length=1500).with_variant(sa.String(length=1500, collation="latin1_general_cs"), "mysql"),
            nullable=False,
        ),
        sa.Column("form", sa.JSON(), nullable=False),
        sa.Column("answer", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("ended", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("asset_partitions_task_request_pkey")),
    )
    op.create_table(
        "asset_partitions_upkeep",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("host", sa.String(length=500), nullable=False),
        sa.Column("user", sa.String(length=500), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("heartbeat_at", UtcDateTime(), nullable=False),
        sa.Column("ended_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("asset_partitions_upkeep_pkey")),
    )
    op.create_table(
        "asset_partitions_consumer",
        sa.Column("asset_id", sa.Integer(), nullable=False),
        sa.Column(
            "dag_id",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("waits_for", sa.String(length=16), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.Column("looked_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["asset_id"],
            ["asset_partitions_asset.id"],
            name=op.f("asset_partitions_consumer_asset_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("asset_id", "dag_id", "waits_for", name=op.f("asset_partitions_consumer_pkey")),
    )
    op.create_table(
        "asset_partitions_forgetting",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("asset_id", sa.Integer(), nullable=False),
        sa.Column("selection", sa.JSON(), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["asset_id"],
            ["asset_partitions_asset.id"],
            name=op.f("asset_partitions_forgetting_asset_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("asset_partitions_forgetting_pkey")),
    )
    with op.batch_alter_table("asset_partitions_forgetting", schema=None) as batch_op:
        batch_op.create_index("idx_asset_partitions_forgetting_asset_id", ["asset_id"], unique=False)

    op.create_table(
        "asset_partitions_hold",
        sa.Column(
            "dag_id",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("request_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["asset_partitions_request.id"], name=op.f("asset_partitions_hold_request_id_fkey")
        ),
        sa.PrimaryKeyConstraint("dag_id", "request_id", name=op.f("asset_partitions_hold_pkey")),
    )
    op.create_table(
        "asset_partitions_partition",
        sa.Column("asset_id", sa.Integer(), nullable=False),
        sa.Column("family", sa.String(length=12), nullable=False),
        sa.Column("start", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column(
            "segments",
            sa.String(length=500).with_variant(sa.String(length=500, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column(
            "key",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.Column(
            "dag_id",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=True,
        ),
        sa.Column(
            "run_id",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=True,
        ),
        sa.Column("rows", sa.BigInteger(), nullable=True),
        sa.Column("files", sa.BigInteger(), nullable=True),
        sa.Column("bytes", sa.BigInteger(), nullable=True),
        sa.Column("extra", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("is_orphaned", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_forgotten", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["asset_id"],
            ["asset_partitions_asset.id"],
            name=op.f("asset_partitions_partition_asset_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "asset_id", "family", "start", "segments", name=op.f("asset_partitions_partition_pkey")
        ),
    )
    op.create_table(
        "asset_partitions_runtime_key",
        sa.Column("list_id", sa.Integer(), nullable=False),
        sa.Column(
            "key",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=False,
        ),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column(
            "previous",
            sa.String(length=250).with_variant(sa.String(length=250, collation="utf8mb3_bin"), "mysql"),
            nullable=True,
        ),
        sa.Column("details", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["list_id"],
            ["asset_partitions_key_list.id"],
            name=op.f("asset_partitions_runtime_key_list_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("list_id", "key", name=op.f("asset_partitions_runtime_key_pkey")),
    )


def downgrade() -> None:
    """Take back."""
    op.drop_table("asset_partitions_runtime_key")
    op.drop_table("asset_partitions_partition")
    op.drop_table("asset_partitions_hold")
    op.drop_table("asset_partitions_forgetting")
    op.drop_table("asset_partitions_consumer")
    op.drop_table("asset_partitions_upkeep")
    op.drop_table("asset_partitions_task_request")
    op.drop_table("asset_partitions_run_request")
    op.drop_table("asset_partitions_request")
    op.drop_table("asset_partitions_key_list")
    op.drop_table("asset_partitions_dag")
    op.drop_table("asset_partitions_asset")
