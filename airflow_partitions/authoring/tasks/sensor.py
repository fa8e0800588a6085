"""The sensor for partitions of an asset; it needs no worker while it waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseSensorOperator
from airflow.sdk.exceptions import AirflowFailException

from airflow_partitions.authoring.arrival.lengths import seconds_of
from airflow_partitions.authoring.tasks.failed_runs import failed_run
from airflow_partitions.authoring.tasks.selected import Keys, check_keys, selected
from airflow_partitions.authoring.tasks.trigger import MaterializedTrigger
from airflow_partitions.core.dependencies import Rule, Selection
from airflow_partitions.engine.runs.materialized import AssetHistory

if TYPE_CHECKING:
    from airflow.sdk import Asset
    from airflow.sdk.definitions.asset import AssetNameRef

# Where upkeep runs, a trigger hears of new partitions from the ledger, and looks by itself for nothing.
_PATIENCE = timedelta(minutes=10)


class MaterializedSensor(BaseSensorOperator):
    """Waits until partitions of an asset are materialized, by whichever Dag, at any time.

    .. code-block:: python

        with DAG("report", schedule=Partitioned("@daily", PartitionByInterval("@daily"))):
            MaterializedSensor(task_id="hours", asset="hourly_flights") >> report()

    In a Dag with partitions it waits for those that the run's partition depends on: the 24 hours of its day. With
    *keys* it waits for these, in any Dag. What counts is the history of the asset's events, as for a Dag that is
    scheduled on it; ``arrival.PartitionSensor`` looks at storage instead, where there is no asset.

    :param asset: the asset, a reference to it by name, or its name.
    :param keys: what to wait for: a selection, its text such as ``2013-03-01..2013-03-10 & origin in JFK,LGA`` or
        that of one key, or a list of keys as text; templates are filled in.
    :param rule: instead of overlap, where no *keys* are given: ``Lookback(n)``, ``Window(before, after)``.
    :param fail_soon: fail as soon as a run that was to make one of them has failed, rather than wait on.
    :param deferrable: wait in the triggerer, where all sensors of an asset look at its ledger together. There they see
        a partition when upkeep has; where upkeep does not run, each looks from a worker every ten minutes.
    :raises InvalidDefinitionError: for *keys* together with a *rule*.
    """

    template_fields: Sequence[str] = ("keys",)
    ui_color = "#91818a"

    def __init__(
        self,
        *,
        asset: Asset | AssetNameRef | str,
        keys: Keys = None,
        rule: Rule | None = None,
        fail_soon: bool = False,
        deferrable: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**seconds_of(kwargs))
        check_keys(self.task_id, keys, rule)
        self.asset = asset
        self.selection = keys if isinstance(keys, Selection) else None  # no template
        self.keys = None if isinstance(keys, Selection) else keys
        self.rule = rule
        self.fail_soon = fail_soon
        self.deferrable = deferrable

    @property
    def asset_name(self) -> str:
        """Name of the asset."""
        return self.asset if isinstance(self.asset, str) else self.asset.name

    def poke(self, context: Mapping[str, Any]) -> bool:
        """Whether all are materialized."""
        return not self.missing(context)

    def execute(self, context: Any) -> Any:
        if not self.deferrable:
            return super().execute(context)
        self._wait(context, datetime.now(UTC) + timedelta(seconds=self.timeout))
        return None

    def go_on(self, context: Any, event: Mapping[str, Any], until: str) -> None:
        """Go on when the trigger has fired: all are there, or it is time to look at the events."""
        if event["missing"]:
            self._wait(context, datetime.fromisoformat(until))
        else:
            self.log.info("all partitions of %s are materialized", self.asset_name)

    def missing(self, context: Mapping[str, Any]) -> Selection:
        """The partitions that are not materialized yet.

        :raises AirflowFailException: if one has failed, and that is not to be waited for.
        """
        history = AssetHistory(self.asset, context["dag"].timetable, self.selection)
        keys = self.keys if self.selection is None else self.selection
        missing = history.missing(selected(context, history, keys, self.rule))
        if missing:
            first = next(iter(missing))
            self.log.info("%s partitions of %s are missing, such as %s", len(missing), self.asset_name, first)
            if self.fail_soon and (failed := failed_run(self.asset_name, missing)) is not None:
                key, run = failed
                raise AirflowFailException(f"{run}, which was to make {key} of {self.asset_name}, has failed")
        return missing

    def _wait(self, context: Any, until: datetime) -> None:
        missing = self.missing(context)
        if missing:
            self.defer(
                trigger=MaterializedTrigger(
                    self.asset_name,
                    missing.to_json(),
                    max(float(self.poke_interval), 1.0),
                    _PATIENCE.total_seconds(),
                    fail_soon=self.fail_soon,
                ),
                method_name="go_on",
                kwargs={"until": until.isoformat()},
                timeout=max(until - datetime.now(UTC), timedelta(0)),
            )
