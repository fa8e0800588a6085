"""An auth manager with rights of single Dags, which Airflow's simple one has not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity
from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

if TYPE_CHECKING:
    from airflow.api_fastapi.auth.managers.base_auth_manager import ResourceMethod


def viewer(*dag_ids: str) -> SimpleAuthManagerUser:
    """A user who may read these Dags, or all if none is named."""
    return SimpleAuthManagerUser(username="viewer", role=f"viewer:{','.join(dag_ids)}")


def editor(*dag_ids: str) -> SimpleAuthManagerUser:
    """A user who may read and change these Dags, or all if none is named."""
    return SimpleAuthManagerUser(username="editor", role=f"editor:{','.join(dag_ids)}")


def starter(*dag_ids: str) -> SimpleAuthManagerUser:
    """A user who may read these Dags and start runs of them, or all if none is named."""
    return SimpleAuthManagerUser(username="starter", role=f"starter:{','.join(dag_ids)}")


class DagAuthManager(SimpleAuthManager):
    """Lets users do with Dags what their role says: viewer, starter or editor, and of which Dags."""

    def is_authorized_dag(  # type: ignore[override]
        self, *, method: ResourceMethod, user: Any, details: Any = None, access_entity: Any = None, **_: Any
    ) -> bool:
        role, _, names = user.role.partition(":")
        dag_ids = set(filter(None, names.split(",")))
        may = method == "GET" or role == "editor" or (role == "starter" and access_entity is DagAccessEntity.RUN)
        return may and (not dag_ids or (details and details.id) in dag_ids)
