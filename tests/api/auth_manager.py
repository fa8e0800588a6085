"""An auth manager with rights of single Dags, which Airflow's simple one has not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


class DagAuthManager(SimpleAuthManager):
    """Lets users do with Dags what their role says: viewer or editor, and of which Dags."""

    def is_authorized_dag(self, *, method: ResourceMethod, user: Any, details: Any = None, **_: Any) -> bool:  # type: ignore[override]
        role, _, names = user.role.partition(":")
        dag_ids = set(filter(None, names.split(",")))
        return (method == "GET" or role == "editor") and (not dag_ids or (details and details.id) in dag_ids)
