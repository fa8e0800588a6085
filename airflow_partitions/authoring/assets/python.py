"""The task that runs a decorated Python function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import Asset

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.batches.work import make_batch
from airflow_partitions.engine.runs.lineage import LineageMethods
from airflow_partitions.engine.timetables.condition import condition_of, leaves
from airflow_partitions.frames.several import SEVERAL

if TYPE_CHECKING:
    from airflow.sdk import Context
    from airflow.sdk.definitions.asset import BaseAsset

#: Parameter names that mean something other than an upstream asset.
RESERVED = frozenset({"self", "context", "outlet_events", "partition", "spark"})


def check_parameters(function: Callable[..., Any]) -> None:
    """Refuse parameters that can't be filled in.

    :raises InvalidDefinitionError: for ``*args``, ``**kwargs`` and positional-only parameters.
    """
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise InvalidDefinitionError(
                f"{function.__name__}: parameter {parameter} can't be filled in; name each parameter: self, context,"
                f" partition, outlet_events, or an upstream asset. Given: {name!r}"
            )


def check_names(function: Callable[..., Any], schedule: Any, inputs: Collection[str] = ()) -> None:
    """Refuse misspelt parameters: a name that is not one of ours would be that of an asset.

    :param schedule: of the Dag; the assets in it may have any name.
    :param inputs: names of what the function reads; so may they.
    :raises InvalidDefinitionError: naming the parameter that was meant.
    """
    for name in upstream_names(function):
        if name in inputs:
            continue
        nearest = get_close_matches(name, sorted(RESERVED), n=1, cutoff=0.8)
        condition = condition_of(schedule) if nearest else None
        if nearest and name not in {leaf.name for leaf in (leaves(condition) if condition else ())}:
            raise InvalidDefinitionError(
                f"{function.__name__}: parameter {name!r} would be an asset of that name; did you mean {nearest[0]!r}?"
            )


def takes_several(function: Callable[..., Any], schedule: Any, inputs: Collection[str]) -> bool:
    """Whether *function* makes all partitions of a batch: it takes them by a name that no asset has."""
    condition = condition_of(schedule)
    assets = {leaf.name for leaf in (leaves(condition) if condition else ())}
    return SEVERAL in inspect.signature(function).parameters and SEVERAL not in assets.union(inputs)


def upstream_names(function: Callable[..., Any]) -> list[str]:
    """Parameters without a default that name upstream assets."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.default is p.empty and p.name not in RESERVED]


class AssetFunctionOperator(LineageMethods, PythonOperator):
    """Calls the function of a decorated asset with what its parameters name.

    ``self`` and names of upstream assets are filled with the assets, ``partition`` with the run's
    :class:`~airflow_partitions.core.partition.Partition`, ``context`` and ``outlet_events`` as in Airflow. Other
    parameters with a default keep it.
    """

    #: Parameters that a subclass fills.
    filled: Collection[str] = ()

    def __init__(self, *, asset_name: str, threads: int = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.asset_name = asset_name
        self.threads = threads

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        asset_name: str,
        outlets: Collection[BaseAsset],
        schedule: Any,
        threads: int = 1,
    ) -> AssetFunctionOperator:
        """The task of *function*, which writes *outlets*, in a Dag with that *schedule*."""
        check_parameters(function)
        check_names(function, schedule)
        return cls(
            task_id=function.__name__,
            asset_name=asset_name,
            threads=threads,
            inlets=[Asset.ref(name=name) for name in upstream_names(function)],
            outlets=list(outlets),
            python_callable=function,
        )

    def execute(self, context: Any) -> Any:
        """Make the partition of this run, and those of the runs that it has been given."""
        return make_batch(self, context, self.make_apart, threads=self.threads)

    def make_apart(self, context: Context) -> Any:
        """As :meth:`make`, by a task of its own if threads do that at the same time."""
        if self.threads == 1:
            return self.make(context)
        from airflow.sdk.bases.operator import ExecutorSafeguard

        own = copy(self)
        token = ExecutorSafeguard.tracker.set(own)
        try:
            return own.make(context)
        finally:
            ExecutorSafeguard.tracker.reset(token)

    def make(self, context: Context) -> Any:
        """Call the function for the partition of *context*."""
        self.op_kwargs = {}  # of the partition before it
        return super().execute(context)

    def determine_kwargs(self, context: Mapping[str, Any]) -> Mapping[str, Any]:
        """The argument for each parameter of the function."""
        return dict(self._arguments(context))

    def _arguments(self, context: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        for name, parameter in inspect.signature(self.python_callable).parameters.items():
            if name == "context":
                yield name, context
            elif name in ("partition", "outlet_events"):
                yield name, context[name]
            elif name == "self":
                yield name, _asset(self.asset_name)
            elif parameter.default is parameter.empty and name not in self.filled:
                yield name, _asset(name)


def _asset(name: str) -> Asset:
    """The active asset called *name*, as the API server knows it."""
    from airflow.sdk.exceptions import AirflowRuntimeError
    from airflow.sdk.execution_time.comms import ErrorResponse, GetAssetByName
    from airflow.sdk.execution_time.task_runner import SUPERVISOR_COMMS

    answer = SUPERVISOR_COMMS.send(GetAssetByName(name=name))
    if answer is None or isinstance(answer, ErrorResponse):
        raise AirflowRuntimeError(answer or ErrorResponse())
    return Asset(**answer.model_dump(exclude={"type"}))
