"""What Alembic runs for each migration of our tables."""

from __future__ import annotations

from typing import Any, Literal

from airflow import settings
from airflow.utils.sqlalchemy import UtcDateTime
from alembic import context
from alembic.autogenerate.api import AutogenContext
from alembic.operations.ops import DropTableOp, MigrationScript, ModifyTableOps
from sqlalchemy.sql.elements import False_

from airflow_partitions.engine.database.models import Base
from airflow_partitions.engine.database.revision import VERSION_TABLE


def include_object(_: Any, name: str | None, kind: str, *__: Any) -> bool:
    """Whether an object of the database is ours."""
    return kind != "table" or name in Base.metadata.tables


def render_item(kind: str, item: Any, autogenerate: AutogenContext) -> str | Literal[False]:
    """The Python of a part of a new migration; ``False`` for Alembic's own, which here holds for one database only."""
    if kind == "type" and isinstance(item, UtcDateTime):
        autogenerate.imports.add("from airflow.utils.sqlalchemy import UtcDateTime")
        return "UtcDateTime()"
    if kind == "server_default" and isinstance(getattr(item, "arg", None), False_):
        return "sa.false()"
    return False


def leave_out_indexes(_: Any, __: Any, scripts: list[MigrationScript]) -> None:
    """Let a table that is dropped take its indexes along: MySQL keeps one that a foreign key needs."""
    for script in scripts:
        for part in filter(None, (script.upgrade_ops, script.downgrade_ops)):
            dropped = {each.table_name for each in part.ops if isinstance(each, DropTableOp)}
            part.ops = [
                each for each in part.ops if not (isinstance(each, ModifyTableOps) and each.table_name in dropped)
            ]


def migrate() -> None:
    """Run the migrations, or print their statements."""
    options: dict[str, Any] = {
        "target_metadata": Base.metadata,
        "include_object": include_object,
        "render_item": render_item,
        "process_revision_directives": leave_out_indexes,
        "render_as_batch": True,  # SQLite changes a table by making another one
    }
    if context.is_offline_mode():
        context.configure(url=settings.SQL_ALCHEMY_CONN, literal_binds=True, version_table=VERSION_TABLE, **options)
        with context.begin_transaction():
            context.run_migrations()
        return
    with settings.get_engine().connect() as connection:
        options["transactional_ddl"] = connection.dialect.name != "mysql"  # Alembic's default leaves SQLite out
        is_sqlite = connection.dialect.name == "sqlite"
        if is_sqlite:
            # A table that is dropped to be made anew would take along all that refers to it.
            connection.detach()  # else others would get a connection without them
            connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
            connection.commit()
        context.configure(connection=connection, version_table=VERSION_TABLE, **options)
        with context.begin_transaction():
            if is_sqlite:
                connection.exec_driver_sql("BEGIN")  # Python's driver does it for rows only
            context.run_migrations()


migrate()
