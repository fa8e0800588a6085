"""An application of the Spark operator of Kubernetes that is known by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from airflow.providers.cncf.kubernetes.operators.spark_kubernetes import SparkKubernetesOperator
from airflow.sdk.exceptions import AirflowException
from kubernetes.client.rest import ApiException

from airflow_partitions.spark.engines.spark_application_trigger import (
    APPLICATIONS,
    NOT_FOUND,
    SparkApplicationTrigger,
    ending,
)
from airflow_partitions.spark.engines.wait import wait

if TYPE_CHECKING:
    from airflow.sdk import Context

#: So much of the log of a failed driver is told.
_LINES = 200


class SparkApplicationOperator(SparkKubernetesOperator):
    """Airflow's own watches the pod of the driver, and deletes the application when its task is over.

    This one makes an application unless there is one of its name, and watches that: it says how a job has ended also
    when the pod is gone. It is deleted if its task is ended.

    :param poll_seconds: it looks at the application that often,
    :param polls: so many times.
    """

    #: A property may end as the name of a file does: it is none that holds a template.
    template_ext = ()  # type: ignore[assignment]  # Airflow's own says that there are three

    def __init__(self, *, name: str, poll_seconds: int, polls: int, **kwargs: Any) -> None:
        super().__init__(name=name, random_name_suffix=False, reattach_on_restart=False, **kwargs)
        self.poll_seconds = poll_seconds
        self.polls = polls

    def execute(self, context: Context) -> None:
        """Wait until the application has ended."""
        if self._application() is None:
            self._ask(self.hook.create_custom_object, body=self.launcher.body)
        self.log.info("application %s in namespace %s", self.name, self.namespace)
        if self.deferrable:
            place = (str(self.name), str(self.namespace), str(self.kubernetes_conn_id))
            self.defer(trigger=SparkApplicationTrigger(*place, self.poll_seconds), method_name="execute_complete")
        self._check(
            wait(lambda: ending(self._application()), f"application {self.name}", self.poll_seconds, self.polls)
        )

    def execute_complete(self, context: Context, event: Mapping[str, str]) -> None:
        """Go on when the application has ended."""
        self._check(event)

    def on_kill(self) -> None:
        """Delete the application, and with it its pods."""
        self._ask(self.hook.delete_custom_object, name=self.name)

    def _application(self) -> Any:
        """The application, if there is one."""
        return self._ask(self.hook.get_custom_object, name=self.name)

    def _ask(self, verb: Callable[..., Any], **arguments: Any) -> Any:
        """What Kubernetes answers; ``None`` if there is no application of the name."""
        try:
            return verb(**APPLICATIONS, namespace=self.namespace, **arguments)
        except ApiException as error:
            if error.status == NOT_FOUND and "name" in arguments:
                return None
            raise AirflowException(f"Kubernetes answered {error.status} {error.reason}: {error.body}") from error

    def _check(self, end: Mapping[str, str]) -> None:
        """Raise unless the application has succeeded, with what its driver said last in the log of the task."""
        if end["state"] == "COMPLETED":
            return
        if not end["state"]:
            raise AirflowException(f"application {self.name} in namespace {self.namespace} is gone")
        if end["pod"]:
            try:
                log = self.client.read_namespaced_pod_log(end["pod"], self.namespace, tail_lines=_LINES)
                self.log.error("the driver's log ends with:\n%s", log)
            except ApiException as error:
                self.log.warning("the log of pod %s can't be read: %s", end["pod"], error.reason)
        raise AirflowException(f"application {self.name} has ended as {end['state']}: {end['message']}")
