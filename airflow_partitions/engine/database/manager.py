"""Our tables, as Airflow's own commands make them: ``airflow db migrate`` and all that calls it."""

from __future__ import annotations

from pathlib import Path

from airflow.utils.db_manager import BaseDBManager
from sqlalchemy import Engine, inspect, select

from airflow_partitions.core.errors import NotMigratedError
from airflow_partitions.engine.database.models import Base
from airflow_partitions.engine.database.revision import COMMAND, REVISION, REVISIONS, VERSION_TABLE, problem

_HERE = Path(__file__).parent
#: The revision before the first: no tables.
_NOTHING = "base"


class AssetPartitionsDBManager(BaseDBManager):
    """Makes, changes and drops our tables; Airflow finds it in the provider's metadata, without any setting."""

    metadata = Base.metadata
    version_table_name = VERSION_TABLE
    migration_dir = str(_HERE / "migrations")
    alembic_file = str(_HERE / "alembic.ini")
    supports_table_dropping = True
    revision_heads_map = REVISIONS

    def check_migration(self) -> bool:
        """Whether the tables are those of this release; what is wrong is logged, as Airflow only tells of its own."""
        words = problem(self.get_current_revision())
        if words is not None:
            self.log.warning("%s", words)
        return words is None

    def initdb(self, use_migration_files: bool = False) -> None:
        """Make the tables."""
        self.upgradedb(use_migration_files=use_migration_files)

    def upgradedb(
        self,
        to_revision: str | None = None,
        from_revision: str | None = None,
        show_sql_only: bool = False,
        use_migration_files: bool = False,
    ) -> None:
        """Make the tables, or bring them to a newer revision; Airflow's ``db migrate`` names none of these parameters.

        :raises NotMigratedError: if they are those of a newer release, or have rows and no revision.
        """
        stored = self.get_current_revision()
        if stored is None and not show_sql_only:
            self._drop_remains()
        elif stored is not None and stored not in REVISIONS.values():
            raise NotMigratedError(problem(stored))
        super().upgradedb(  # type: ignore[no-untyped-call]
            to_revision, from_revision, show_sql_only, use_migration_files
        )

    def downgrade(self, to_revision: str, from_revision: str | None = None, show_sql_only: bool = False) -> None:
        """Take the tables back to an older revision.

        :param to_revision: where to; ``base`` for no tables.
        :param from_revision: where from, if the statements are only shown; what the database has if not given.
        """
        from alembic import command

        stored = self.get_current_revision()
        if not show_sql_only and stored is not None and stored not in REVISIONS.values():
            raise NotMigratedError(problem(stored))
        self.session.commit()  # what was read holds locks, and the migrations have a connection of their own
        revisions = f"{from_revision or stored or REVISION}:{to_revision}" if show_sql_only else to_revision
        command.downgrade(self.get_alembic_config(), revision=revisions, sql=show_sql_only)
        if to_revision == _NOTHING and not show_sql_only:
            with self._engine.begin() as connection:
                self.drop_tables(connection)  # that of the revision, too

    def _drop_remains(self) -> None:
        """Drop what a first migration has left that was stopped: tables without a revision, and without rows.

        Airflow would take them for those of our first release, all of them, and add the changes since.
        """
        with self._engine.begin() as connection:
            names = set(inspect(connection).get_table_names())
            remains = [table for table in self.metadata.sorted_tables if table.name in names]
            for table in remains:
                if connection.execute(select(table).limit(1)).first() is not None:
                    raise NotMigratedError(
                        f"the table {table.name} has rows, and {VERSION_TABLE} no revision: restore that table from the"
                        f" same backup, or drop all tables whose names begin as this one's; then run: {COMMAND}"
                    )
            self.metadata.drop_all(connection, tables=remains)

    @property
    def _engine(self) -> Engine:
        engine: Engine = self.session.get_bind().engine
        return engine
