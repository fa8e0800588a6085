"""The making of several partitions at once: what they need together, and their publication by one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.checks.audit import audit
from airflow_partitions.checks.check import Check
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.checks.staged_partitions import staged_partitions
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.freezing import Freezing
from airflow_partitions.engine.runs.publication import attempt_of, partition_in, put_together
from airflow_partitions.frames.input import Input
from airflow_partitions.frames.several import Several, as_read, joined
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow.sdk import Asset, Context

    from airflow_partitions.checks.result import CheckResult


@attrs.define(kw_only=True)
class Together:
    """Several partitions that one call makes.

    :ivar contexts: those of their runs.
    :ivar partitions: in the order of the contexts.
    :ivar inputs: what all of them need, from where it is read.
    :ivar commit: what publishes them, when its block ends.
    :ivar errors: of those that fail a check, and are not published, by their place.
    """

    contexts: Sequence[Context]
    partitions: Sequence[Partition]
    inputs: Mapping[str, Input]
    commit: Commit
    errors: Mapping[int, Exception] = attrs.field(factory=dict, init=False)
    _needed: Mapping[Partition, Mapping[str, Input]]
    _asset: Asset | str
    _storage: Storage
    _checks: Sequence[Check]

    def publish(
        self, several: Several, summary: Mapping[str, Any], earlier: Mapping[str, Sequence[CheckResult]] | None = None
    ) -> None:
        """Let the commit publish *several*, but for those that fail a check.

        :param summary: what all have in common, for their events.
        :param earlier: results of checks that the job has made, by the text of the key.
        """
        name = self._asset if isinstance(self._asset, str) else self._asset.name
        staged: dict[Partition, StagedPartition] = {}
        if self._checks or earlier:
            folder = self.commit.folder
            staged |= {s.partition: s for s in staged_partitions(self.partitions, several, self._storage, folder)}

        def results(partition: Partition) -> Sequence[CheckResult]:
            if partition not in staged:
                return ()
            own = attrs.evolve(staged[partition], inputs=as_read(self._needed[partition], self.inputs))
            return audit(self._checks, own, name, earlier=(earlier or {}).get(partition.text, ()))

        common = {"batch": len(self.partitions), **summary}
        self.errors = put_together(self.contexts, self._asset, self.commit, several, results, common)


@contextmanager
def making_together(
    contexts: Sequence[Context],
    task: str,
    asset: Asset | str,
    storage: Storage,
    needed_by: Callable[[Partition, datetime], Mapping[str, Input]],
    *,
    checks: Sequence[Check] = (),
    freeze: bool | str = False,
) -> Iterator[Together]:
    """The partitions of *contexts*, to be made and published inside the block; what is published is seen as it ends.

    :param task: id of the one that makes them.
    :param needed_by: gives what a partition needs, at an aware instant.
    :param checks: of each of them.
    :param freeze: as the parameter of the task.
    :raises MissingInputError: if a partition is not stored that one of them needs.
    """
    context = contexts[0]
    partitions = [partition_in(each, task) for each in contexts]
    needed = {
        partition: needed_by(partition, each["dag_run"].run_after)
        for partition, each in zip(partitions, contexts, strict=True)
    }
    inputs = joined(needed.values())
    freezing = Freezing.asked_for(context, freeze)
    if freezing is not None:
        inputs = freezing.freeze(inputs)
    for source in inputs.values():  # what is missing is told before anything is made
        source.stored()
    with Commit(storage, attempt_of(context), evolve=True) as commit:
        yield Together(
            contexts=contexts,
            partitions=partitions,
            inputs={name: source.handed_over(commit.staging.inputs) for name, source in inputs.items()},
            commit=commit,
            needed=needed,
            asset=asset,
            storage=storage,
            checks=checks,
        )
    if freezing is not None:
        freezing.release(context, inputs)
