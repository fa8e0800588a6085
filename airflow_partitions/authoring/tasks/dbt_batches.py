"""Whether dbt has made exactly the batches of a partition."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs

from airflow_partitions.core.errors import CheckError, InvalidDefinitionError, ResultError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.dbt_bounds import CLOCKS, dbt_end, dbt_start

log = logging.getLogger(__name__)

RESULTS = "run_results.json"
_SHOWN = 3

#: Begin and end of a batch, aware, as dbt writes them: it takes all times for UTC.
_Batch = tuple[datetime, datetime]


@attrs.frozen
class DbtBatches:
    """The ``post_execute`` of a task that runs dbt, which it fails unless the batches of each microbatch model, taken
    together, are exactly its partition, each made once and with success.

    .. code-block:: python

        BashOperator(task_id="dbt", bash_command="dbt run …", post_execute=DbtBatches("/opt/delays/target"), …)

    It reads ``run_results.json``, which dbt leaves:
    https://docs.getdbt.com/reference/artifacts/run-results-json. How many batches each model had stands on the events
    of the task's outlets, as ``dbt_batches``.

    :param target: the folder in which dbt leaves it.
    :param clock: as the filters ``dbt_start`` and ``dbt_end`` had it: ``utc``, or ``wall``.
    :param models: names of the microbatch models that are to be made; by default those that dbt has run, at least one.
    """

    target: str | Path
    clock: str = attrs.field(default="utc", kw_only=True)
    models: Sequence[str] = attrs.field(default=(), kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.clock not in CLOCKS:
            raise InvalidDefinitionError(
                f"clock={self.clock!r}; expected {' or '.join(map(repr, CLOCKS))}; nearest:"
                f" {nearest_texts(str(self.clock), CLOCKS)[0]!r}"
            )
        if isinstance(self.models, str) or not all(isinstance(name, str) and name for name in self.models):
            raise InvalidDefinitionError(f"models={self.models!r}; expected names of models, such as ['daily_delays']")

    def __call__(self, context: Mapping[str, Any], result: Any = None) -> None:
        """Look at what dbt has left.

        :raises CheckError: naming the batches that failed, are lacking, were made twice, or are of other partitions.
        :raises ResultError: if dbt has left nothing in this try, or nothing that can be read.
        """
        counts = self.check(context["partition"], since=context["ti"].start_date)
        log.info("dbt has made the batches of %s: %s", context["partition"], counts)
        for outlet in context["task"].outlets:
            event = context["outlet_events"][outlet]
            event.extra = {**(event.extra or {}), "dbt_batches": counts}

    def check(self, partition: Partition, *, since: datetime | None = None) -> dict[str, int]:
        """The number of batches of each model; errors as above.

        :param since: aware; results of dbt that began before are those of another run.
        """
        bounds = [dbt_start(partition, self.clock), dbt_end(partition, self.clock)]
        first, last = (datetime.fromisoformat(bound).replace(tzinfo=UTC) for bound in bounds)
        results = self._results(since)
        lacking = sorted(set(self.models) - results.keys())
        if lacking or not results:
            raise CheckError(
                f"dbt has made no batches of {', '.join(lacking) or 'any model'} for partition {partition}; expected"
                f" microbatch models{', as event_time and batch_size make them' if not lacking else ''}, and found"
                f" {', '.join(sorted(results)) or 'none'}"
            )
        for model in self.models or sorted(results):
            if faults := _faults(*results[model], first, last):
                raise CheckError(
                    f"dbt's batches of {model} are not partition {partition}, {bounds[0]} to {bounds[1]}:"
                    f" {'; '.join(faults)}"
                )
        return {model: len(results[model][0]) for model in self.models or sorted(results)}

    def _results(self, since: datetime | None) -> dict[str, tuple[list[_Batch], list[_Batch]]]:
        """The batches that were made, and those that failed, by the names of microbatch models."""
        file = Path(self.target, RESULTS)
        try:
            form = json.loads(file.read_text())
            began = datetime.fromisoformat(form["metadata"]["invocation_started_at"])
            batches = {
                result["unique_id"].split(".", 2)[2]: (
                    [_batch(one) for one in result["batch_results"]["successful"]],
                    [_batch(one) for one in result["batch_results"]["failed"]],
                )
                for result in form["results"]
                if result.get("batch_results") is not None
            }
        except FileNotFoundError as error:
            raise ResultError(
                f"there is no {file}, in which dbt tells what it has made; expected the target folder of the project"
                " that the task has run, on the worker's own disk"
            ) from error
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ResultError(
                f"{file} can't be read ({type(error).__name__}: {error}); expected what dbt-core 1.11 leaves there"
            ) from error
        if since is not None and began < since:
            raise ResultError(
                f"{file} is of a run of dbt that began at {began.isoformat()}, before this task, at"
                f" {since.isoformat()}; expected one by this task, and a folder of its own for each that works at the"
                " same time (dbt --target-path)"
            )
        return batches


def _batch(bounds: Sequence[str]) -> _Batch:
    begin, end = (datetime.fromisoformat(bound) for bound in bounds)
    return begin.astimezone(UTC), end.astimezone(UTC)


def _faults(made: Sequence[_Batch], failed: Sequence[_Batch], first: datetime, last: datetime) -> list[str]:
    """What keeps the batches that were *made* from being all between *first* and *last*, and nothing else."""
    strays = [batch for batch in made if batch[1] <= first or batch[0] >= last]
    over = [batch for batch in made if batch not in strays and (batch[0] < first or batch[1] > last)]
    own = sorted(batch for batch in made if batch not in strays)
    lacking, twice, reached = [], [], first
    for begin, end in own:
        if begin > reached:
            lacking.append((reached, begin))
        elif begin < reached and begin >= first:
            twice.append((begin, min(end, reached)))
        reached = max(reached, end)
    if reached < last:
        lacking.append((reached, last))
    kinds = {
        "failed": failed,
        "lacking": [batch for batch in lacking if batch not in failed],
        "made twice": twice,
        "of more than it": over,
        "of others": strays,
    }
    return [f"{kind}: {_words(batches)}" for kind, batches in kinds.items() if batches]


def _words(batches: Sequence[_Batch]) -> str:
    texts = [f"{begin:%Y-%m-%dT%H:%M} to {end:%Y-%m-%dT%H:%M}" for begin, end in batches[:_SHOWN]]
    more = f" and {len(batches) - _SHOWN:,} more" if len(batches) > _SHOWN else ""
    return ", ".join(texts) + more
