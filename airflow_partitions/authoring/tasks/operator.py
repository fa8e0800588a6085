"""The operator that makes partitions of an asset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException
from airflow.sdk.execution_time.context import AssetStateStoreAccessor

from airflow_partitions.authoring.tasks.selected import Keys, check_keys, selected
from airflow_partitions.authoring.tasks.trigger import AnswerTrigger
from airflow_partitions.core.calendars.duration import Length, duration
from airflow_partitions.core.dependencies import Rule, Selection, selection_text
from airflow_partitions.core.versions import read_form
from airflow_partitions.engine.runs.materialized import AssetHistory
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.engine.runs.task_request import ANSWER, TASK_REQUEST, TaskAnswer, TaskRequest

if TYPE_CHECKING:
    from airflow.sdk import Asset
    from airflow.sdk.definitions.asset import AssetNameRef


class Materialize(BaseOperator):
    """Makes partitions of an asset, by runs of the Dag that makes it, and waits until they have ended.

    .. code-block:: python

        Materialize(task_id="again", asset="hourly_flights", keys="2013-03-01..2013-03-10 & origin in JFK,LGA")

    A task reaches no database. So it leaves what it asks for with the asset, and upkeep makes a request of it, like one
    of ``airflow asset-partitions materialize``: a run for each partition, a new try of the run where there is one.
    However often the task is tried again, there is one request; a run that is cleared asks anew.

    :param asset: the asset, a reference to it by name, or its name.
    :param keys: which partitions: a selection, its text or that of one key, or a list of keys as text; templates are
        filled in. By default those that the run's own partition depends on.
    :param rule: instead of overlap, where no *keys* are given: ``Lookback(n)``, ``Window(before, after)``.
    :param only_missing: leave out those that are materialized.
    :param concurrency: the most runs at a time.
    :param conf: of every run; templates are filled in.
    :param while_paused: make them also if the Dag that makes them is paused; its schedule begins no run until the
        request has ended.
    :param wait: wait, in the triggerer, until all runs have ended; fail if one has failed.
    :param poke_interval: seconds between two looks.
    :param timeout: after this time the task fails; the request goes on.
    :raises InvalidDefinitionError: for *keys* together with a *rule*.
    """

    template_fields: Sequence[str] = ("keys", "conf")
    ui_color = "#91818a"

    def __init__(
        self,
        *,
        asset: Asset | AssetNameRef | str,
        keys: Keys = None,
        rule: Rule | None = None,
        only_missing: bool = False,
        concurrency: int = 16,
        conf: Mapping[str, Any] | None = None,
        while_paused: bool = False,
        wait: bool = True,
        poke_interval: Length = 30,
        timeout: Length | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_keys(self.task_id, keys, rule)
        self.asset = asset
        self.selection = keys if isinstance(keys, Selection) else None  # no template
        self.keys = None if isinstance(keys, Selection) else keys
        self.rule = rule
        self.only_missing = only_missing
        self.concurrency = concurrency
        self.conf = dict(conf or {})
        self.while_paused = while_paused
        self.wait = wait
        self.poke_interval = duration(poke_interval).total_seconds()
        self.timeout = None if timeout is None else duration(timeout)

    @property
    def asset_name(self) -> str:
        """Name of the asset."""
        return self.asset if isinstance(self.asset, str) else self.asset.name

    def execute(self, context: Any) -> None:
        """Ask for the partitions, and wait for them."""
        number, form = task_request_id(context), None
        if self._answer(number) is None:
            history = AssetHistory(self.asset, context["dag"].timetable, self.selection)
            keys = self.keys if self.selection is None else self.selection
            selection = selected(context, history, keys, self.rule)
            if self.only_missing:
                selection = history.missing(selection)
            if not selection:
                self.log.info("no partition of %s is to be made", self.asset_name)
                return
            by = f"task {self.task_id} of {context['dag_run'].dag_id}"
            options = RunOptions(concurrency=self.concurrency, conf=self.conf, while_paused=self.while_paused)
            task_request = TaskRequest(number, self.asset_name, selection, by, datetime.now(UTC), options)
            form = task_request.to_json()
            self._store.set(TASK_REQUEST + number, form)
            self.log.info("asked for partitions of %s: %s", self.asset_name, selection_text(selection))
        if self.wait:
            trigger = AnswerTrigger(self.asset_name, number, self.poke_interval, form)
            self.defer(trigger=trigger, method_name="end", timeout=self.timeout)

    def end(self, context: Any, event: Any) -> None:
        """End as the request did.

        :raises AirflowFailException: if it was refused or cancelled, or a run has failed.
        """
        answer = TaskAnswer.from_json(event)
        if answer.state != "done":
            number = "" if answer.request is None else f" {answer.request}"
            words = answer.words or ", ".join(f"{count} {state}" for state, count in answer.runs.items())
            raise AirflowFailException(
                f"the request{number} for partitions of {self.asset_name} is {answer.state}: {words}"
            )
        self.log.info("request %s is done: %s", answer.request, dict(answer.runs))

    @property
    def _store(self) -> AssetStateStoreAccessor:
        return AssetStateStoreAccessor(name=self.asset_name)

    def _answer(self, number: str) -> TaskAnswer | None:
        form = self._store.get(ANSWER + number)
        return read_form(form, TaskAnswer.from_json, f"the answer {number}", self.log.warning)


def task_request_id(context: Mapping[str, Any]) -> str:
    """Id of what a task asks for: the same for all its tries, another one when its run is cleared."""
    run, ti = context["dag_run"], context["ti"]
    parts = (run.dag_id, run.run_id, context["task"].task_id, str(ti.map_index), str(run.clear_number))
    return blake2b("\n".join(parts).encode(), digest_size=8).hexdigest()
