"""Pods of drivers, by the API of Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs

from airflow_partitions.core.errors import MissingSparkError
from airflow_partitions.spark.engines.tracker import Tracker

if TYPE_CHECKING:
    from airflow.sdk import Connection

_NAMESPACE = "spark.kubernetes.namespace"
_NOT_FOUND = 404
_ENDED = ("Succeeded", "Failed")


@attrs.frozen(slots=False)  # it keeps its client
class DriverPods(Tracker):
    """A driver is a pod, which has the token of its job in its name: Kubernetes takes no second one of that name.

    :param namespace: where the pods are.
    :param kubernetes_conn_id: Airflow's connection of type ``kubernetes``.
    """

    words: ClassVar[Mapping[str, Any]] = {"track_driver_via_k8s_api": True}
    waits: ClassVar[str] = "spark.kubernetes.submission.waitAppCompletion"

    namespace: str
    kubernetes_conn_id: str

    @classmethod
    def of(cls, connection: Connection, words: Mapping[str, Any]) -> Self:
        if find_spec("airflow.providers.cncf.kubernetes") is None:
            raise MissingSparkError(
                f"deferrable=True, and pods of connection {connection.conn_id!r} are asked for by a hook of Airflow"
                " that is not installed here; expected it, and in the triggerer: pip install"
                " apache-airflow-providers-cncf-kubernetes"
            )
        extra = connection.extra_dejson
        namespace = words["conf"].get(_NAMESPACE) or extra.get("namespace") or "default"  # that of Spark
        return cls(namespace, extra.get("kubernetes_conn_id") or "kubernetes_default")

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        from kubernetes.client.rest import ApiException
        from urllib3.exceptions import HTTPError

        return (ApiException, HTTPError)

    def conf(self, token: str, conf: Mapping[str, Any]) -> Mapping[str, str]:
        return {"spark.kubernetes.driver.pod.name": _name(token), _NAMESPACE: self.namespace}

    def find(self, token: str) -> str | None:
        return None if self._pod(_name(token)) is None else _name(token)

    def ending(self, driver: str) -> dict[str, str] | None:
        pod = self._pod(driver)
        if pod is None:
            return {"state": "", "message": ""}
        if pod.status.phase not in _ENDED:
            return None
        ends = [each.state.terminated for each in pod.status.container_statuses or () if each.state.terminated]
        said = [f"exit code {end.exit_code}, {end.reason}" for end in ends]
        return {"state": pod.status.phase.upper(), "message": "; ".join(filter(None, [pod.status.message, *said]))}

    def kill(self, driver: str) -> None:
        self._ask("delete_namespaced_pod", driver)

    def _pod(self, name: str) -> Any:
        return self._ask("read_namespaced_pod", name)

    def _ask(self, verb: str, name: str) -> Any:
        """What it answers; ``None`` if there is no such pod."""
        from kubernetes.client.rest import ApiException

        try:
            return getattr(self._client, verb)(name, self.namespace)
        except ApiException as error:
            if error.status == _NOT_FOUND:
                return None
            raise

    @cached_property
    def _client(self) -> Any:
        from airflow.providers.cncf.kubernetes.hooks.kubernetes import KubernetesHook

        return KubernetesHook(self.kubernetes_conn_id).core_v1_client


def _name(token: str) -> str:
    return f"partition-{token}-driver"
