"""An auth manager of which one user may change one Dag only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager

if TYPE_CHECKING:
    from airflow.api_fastapi.auth.managers.base_auth_manager import ResourceMethod

#: The Dags that a user may change; those who are not named may what their role says.
EDITS = {"editor": frozenset({"days"})}


class EditorAuthManager(SimpleAuthManager):
    """Lets the editor change one Dag."""

    def is_authorized_dag(self, *, method: ResourceMethod, user: Any, details: Any = None, **more: Any) -> bool:  # type: ignore[override]
        if method != "GET" and user.username in EDITS and (details is None or details.id not in EDITS[user.username]):
            return False
        return super().is_authorized_dag(method=method, user=user, details=details, **more)
