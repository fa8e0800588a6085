"""A wait for the end of an application of the Spark operator of Kubernetes, without a worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from airflow.providers.cncf.kubernetes.hooks.kubernetes import AsyncKubernetesHook
from airflow.triggers.base import BaseTrigger, TriggerEvent
from kubernetes_asyncio.client import CustomObjectsApi
from kubernetes_asyncio.client.exceptions import ApiException

#: What Kubernetes calls the applications.
APPLICATIONS = {"group": "sparkoperator.k8s.io", "version": "v1beta2", "plural": "sparkapplications"}
NOT_FOUND = 404
_ENDED = ("COMPLETED", "FAILED")


class SparkApplicationTrigger(BaseTrigger):
    """Fires when the application *name* has ended, or is gone: with what :func:`ending` says.

    :param poll_seconds: it looks that often.
    """

    def __init__(self, name: str, namespace: str, kubernetes_conn_id: str, poll_seconds: float) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.name = name
        self.namespace = namespace
        self.kubernetes_conn_id = kubernetes_conn_id
        self.poll_seconds = poll_seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """As Airflow keeps it."""
        kind = type(self)
        return f"{kind.__module__}.{kind.__qualname__}", {
            "name": self.name,
            "namespace": self.namespace,
            "kubernetes_conn_id": self.kubernetes_conn_id,
            "poll_seconds": self.poll_seconds,
        }

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Ask until it has ended."""
        hook = AsyncKubernetesHook(conn_id=self.kubernetes_conn_id)
        while True:
            async with hook.get_conn() as connection:
                end = ending(await self._application(connection))
            if end is not None:
                yield TriggerEvent(end)
                return
            await asyncio.sleep(self.poll_seconds)

    async def _application(self, connection: Any) -> Any:
        api: Any = CustomObjectsApi(connection)
        try:
            return await api.get_namespaced_custom_object(**APPLICATIONS, namespace=self.namespace, name=self.name)
        except ApiException as error:
            if error.status == NOT_FOUND:
                return None
            raise


def ending(application: Mapping[str, Any] | None) -> dict[str, str] | None:
    """How an *application* has ended: its state, message and the pod of its driver; no state if it is gone.

    ``None`` while it is at work.
    """
    if application is None:
        return {"state": "", "message": "", "pod": ""}
    status = application.get("status") or {}
    state = status.get("applicationState") or {}
    if state.get("state") not in _ENDED:
        return None
    pod = (status.get("driverInfo") or {}).get("podName", "")
    return {"state": state["state"], "message": state.get("errorMessage", ""), "pod": pod}
