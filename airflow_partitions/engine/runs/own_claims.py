"""What a task notes of its claims for itself, in its own state store, which Airflow keeps as long as the run."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.versions import check_version, read_form

if TYPE_CHECKING:
    from airflow.sdk.execution_time.context import TaskStateStoreAccessor

log = logging.getLogger(__name__)

#: What the names of the cells of these notes begin with; the key follows.
OWN_CLAIMS = "partition_claims|"
_VERSION = 1


@attrs.frozen
class OwnClaims:
    """The claims of a task on partitions of one key.

    :ivar assets: names of those whose partition it has claimed.
    :ivar behind: the claim of the run that it has given way to; ``None`` if it has not.
    """

    assets: tuple[str, ...] = ()
    behind: Mapping[str, Any] | None = None

    @classmethod
    def read(cls, store: TaskStateStoreAccessor, text: str) -> OwnClaims:
        """What a task has noted of its claims on the key *text*."""
        form: Any = store.get(OWN_CLAIMS + text)
        return read_form(form, cls.from_json, "what a task has noted of its claims", log.warning) or cls()

    def write(self, store: TaskStateStoreAccessor, text: str) -> None:
        """Note this of the key *text*, for as long as there is the run."""
        from airflow.sdk.execution_time.context import NEVER_EXPIRE

        form: Any = {"version": _VERSION, "assets": list(self.assets), "behind": self.behind}
        store.set(OWN_CLAIMS + text, form, retention=NEVER_EXPIRE)

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> OwnClaims:
        """What :meth:`write` has written.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "what a task has noted of its claims")
        return cls(tuple(map(str, form["assets"])), form["behind"])
