"""YARN's ResourceManager, by its REST API."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from airflow_partitions.core.errors import InvalidDefinitionError, MissingSparkError
from airflow_partitions.spark.engines.tracker import Tracker

if TYPE_CHECKING:
    from airflow.sdk import Connection

#: Where a connection says its address: as Airflow's own hook has it.
ADDRESS = "yarn_resourcemanager_webapp_address"
_TAGS = "spark.yarn.tags"
#: Seconds: for a connection, and for an answer.
_TIMEOUT = (5, 30)
#: Asked again at once, with a pause of some seconds.
_AGAIN = Retry(
    total=2,
    backoff_factor=1,
    status_forcelist=(429, 500, 502, 503, 504),
    raise_on_status=False,
    respect_retry_after_header=False,
)
_ENDED = ("FINISHED", "FAILED", "KILLED")


def _url(address: str) -> str:
    return (address if "://" in address else f"http://{address}").rstrip("/")


@attrs.frozen
class ResourceManager(Tracker):
    """A driver is an application of YARN, which has the token of its job for a tag.

    :param address: of its web application, such as ``http://rm:8088``.
    :param kerberos: whether it wants a ticket of Kerberos: that of the process is shown to it.
    """

    words: ClassVar[Mapping[str, Any]] = {"yarn_track_via_rm_api": False}
    waits: ClassVar[str] = "spark.yarn.submit.waitAppCompletion"

    address: str = attrs.field(converter=_url)
    kerberos: bool = False

    @classmethod
    def of(cls, connection: Connection, words: Mapping[str, Any]) -> Self:
        extra = connection.extra_dejson
        if not extra.get(ADDRESS):
            raise InvalidDefinitionError(
                f"deferrable=True, and connection {connection.conn_id!r} does not say where to ask YARN how a job is;"
                f' expected the address of its ResourceManager in its extra: {{"{ADDRESS}": "http://rm:8088"}}'
            )
        kerberos = all(words.get(word) or extra.get(word) for word in ("keytab", "principal"))
        if kerberos and find_spec("requests_kerberos") is None:
            raise MissingSparkError(
                f"deferrable=True, and connection {connection.conn_id!r} has a keytab and a principal, so YARN is shown"
                " a ticket of Kerberos; expected what does that, here and in Airflow's triggerer: pip install"
                " requests-kerberos"
            )
        return cls(str(extra[ADDRESS]), kerberos)

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        return (requests.RequestException,)

    def conf(self, token: str, conf: Mapping[str, Any]) -> Mapping[str, str]:
        return {_TAGS: ",".join(filter(None, [conf.get(_TAGS), token]))}

    def find(self, token: str) -> str | None:
        found = self._ask("GET", "", params={"applicationTags": token})["apps"] or {}  # null where there is none
        return next((str(each["id"]) for each in found.get("app") or ()), None)

    def ending(self, driver: str) -> dict[str, str] | None:
        answer = self._ask("GET", f"/{driver}")
        if answer is None:
            return {"state": "", "message": ""}
        told = answer["app"]
        if told["state"] not in _ENDED:
            return None
        state = told["finalStatus"] if told["state"] == "FINISHED" else told["state"]
        return {"state": state, "message": (told.get("diagnostics") or "").strip()}

    def kill(self, driver: str) -> None:
        self._ask("PUT", f"/{driver}/state", json={"state": "KILLED"})

    def _ask(self, method: str, path: str, **words: Any) -> Any:
        """What it answers; ``None`` if there is no such application."""
        with requests.Session() as session:
            session.mount(self.address, HTTPAdapter(max_retries=_AGAIN))
            session.headers["Accept"] = "application/json"
            if self.kerberos:
                from requests_kerberos import HTTPKerberosAuth

                session.auth = HTTPKerberosAuth()
            url = f"{self.address}/ws/v1/cluster/apps{path}"
            answer = session.request(method, url, timeout=_TIMEOUT, **words)
        if answer.status_code == HTTPStatus.NOT_FOUND and "NotFoundException" in answer.text:
            return None  # as YARN itself says it: any other page that is not there means another server
        if not answer.ok:
            raise requests.HTTPError(
                f"the ResourceManager {self.address} answered {answer.status_code} {answer.reason}: {answer.text[:200]}"
            )
        return answer.json()
