"""Platforms that run Spark jobs on machines of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

import attrs
from airflow.sdk.exceptions import AirflowException

from airflow_partitions.core.errors import InvalidDefinitionError, MissingSparkError
from airflow_partitions.spark.engines.engine import Engine
from airflow_partitions.storage.filesystem.paths import local

if TYPE_CHECKING:
    from airflow_partitions.spark.engines.demand import Demand
    from airflow_partitions.storage.storage import Storage

#: Nothing ends a job for its length but ``execution_timeout`` of its task: the waiters of Airflow's operators must end.
LONGEST = 7 * 24 * 3600


@attrs.frozen(kw_only=True)
class ManagedEngine(Engine):
    """Jobs on machines that share nothing with the task but the storage.

    Program, archive and handover are put in the staging place of the partition, and the result comes back there. A job
    has the token of its try for a name, so a task that is killed finds it again.

    :param conf: Spark properties of all jobs; those of an asset replace them.
    :param mounts: local folders that its machines have, too, under the same path. Without them all storage lies in an
        object store.
    :param deferrable: let the task wait without a worker.
    :param poll_seconds: the task looks at the job that often.
    """

    finds_jobs: ClassVar[bool] = True
    words: ClassVar[frozenset[str] | None] = frozenset({"application_args", "py_files"})
    #: Schemes of storage that its Spark reads, as fsspec calls them, each with the name that its Spark has for it.
    schemes: ClassVar[Mapping[str, str]] = {}
    #: The provider package of Airflow with its operator, if it needs one.
    provider: ClassVar[str] = ""
    #: Words of an error by which its operator says that the job has ended, as opposed to that nobody knows.
    endings: ClassVar[tuple[str, ...]]

    conf: Mapping[str, str] = attrs.field(factory=dict)
    mounts: Sequence[str] = ()
    deferrable: bool = False
    poll_seconds: int = attrs.field(default=30, validator=attrs.validators.ge(1))

    def check(self, demand: Demand) -> None:
        """Refuse storage that its machines can't reach.

        :raises InvalidDefinitionError: if a storage is local, or of another cloud.
        :raises MissingSparkError: if Airflow's provider for it is not installed.
        """
        for name, storage in {"storage": demand.storage, **demand.inputs}.items():
            self._check_reach(demand.asset, name, storage)
        self._check_provider()

    def has_failed(self, error: Exception) -> bool:
        return isinstance(error, AirflowException) and any(word in str(error) for word in self.endings)

    @property
    def polls(self) -> int:
        """How often its operator looks at a job before it gives up."""
        return LONGEST // self.poll_seconds

    def url(self, place: str) -> str:
        """What its Spark calls *place*, a path or a URL of a storage."""
        scheme, separator, rest = place.partition("://")
        return f"{self.schemes.get(scheme, scheme)}{separator}{rest}"

    def _check_reach(self, asset: str, name: str, storage: Storage) -> None:
        scheme = urlsplit(storage.path).scheme
        if scheme in self.schemes or not (scheme or storage.path.startswith("/")):  # a table is told by its catalog
            return
        if scheme in ("", "file"):
            folder = local(storage.path)
            if any(folder.is_relative_to(mount) for mount in self.mounts):
                return
        urls = "".join(f"{each}://… or " for each in self.schemes)
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: {name} {storage.path!r} can't be reached by the machines of"
            f" {type(self).__name__}; expected {urls}a folder of mounts=, which they have under the same path"
            f" ({', '.join(self.mounts) or 'there are none'})"
        )

    def _check_provider(self) -> None:
        from importlib.metadata import PackageNotFoundError, distribution

        try:
            _ = distribution(self.provider) if self.provider else None
        except PackageNotFoundError:
            raise MissingSparkError(
                f"jobs on {type(self).__name__} are run by an operator of Airflow that is not installed here; expected"
                f" it: pip install {self.provider}"
            ) from None
