"""What a run knows of what its task reads and makes, as datasets of OpenLineage with the subset of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from airflow.providers.openlineage.extractors import ExtractorManager, OperatorLineage
from airflow.providers.openlineage.utils.emission_policy import resolve_task_emission_policy
from airflow.sdk import Asset
from openlineage.client.event_v2 import Dataset, InputDataset, OutputDataset
from openlineage.client.generated.base import InputDatasetFacet, OutputDatasetFacet
from openlineage.client.generated.base_subset_dataset import (
    BaseSubsetCondition,
    InputSubsetInputDatasetFacet,
    OutputSubsetOutputDatasetFacet,
)
from openlineage.client.generated.output_statistics_output_dataset import OutputStatisticsOutputDatasetFacet

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.engine.runs.run_lineage import RunLineage
from airflow_partitions.engine.runs.subset_condition import condition_of, condition_of_keys, joined

#: Facets by the names that OpenLineage has for them.
SUBSET, STATISTICS = "subset", "outputStatistics"


def input_datasets(lineage: RunLineage) -> list[InputDataset]:
    """What is read: each dataset once, with the partitions that were promised. One that is read whole has no subset."""
    read: dict[tuple[str, str], list[Selection | None]] = {}
    for source in lineage.inputs.values():
        read.setdefault(source.storage.lineage_name, []).append(source.selection)
    datasets = [InputDataset(*place, inputFacets=_input_facets(some)) for place, some in read.items()]
    for inlet, selection in lineage.inlets:
        dataset = ExtractorManager.convert_to_ol_dataset(inlet)
        if dataset is not None and (dataset.namespace, dataset.name) not in read:
            facets = _input_facets([selection])
            datasets.append(InputDataset(dataset.namespace, dataset.name, facets=dataset.facets, inputFacets=facets))
    return datasets


def output_datasets(lineage: RunLineage) -> list[OutputDataset]:
    """What is written, with the partitions that are made, and how much is in them.

    An asset without storage has the dataset that Airflow has for its URI, if it has one.
    """
    datasets = []
    for outlet, storage in lineage.outlets:
        dataset = Dataset(*storage.lineage_name) if storage else ExtractorManager.convert_to_ol_dataset(outlet)
        if dataset is not None:
            facets = _output_facets(lineage, outlet.name) if isinstance(outlet, Asset) else {}
            datasets.append(OutputDataset(dataset.namespace, dataset.name, facets=dataset.facets, outputFacets=facets))
    return datasets


def with_hooks(told: OperatorLineage[Any, Any], task_instance: Any) -> OperatorLineage[Any, Any]:
    """What is *told* of a task that has ended, and what hooks have noted of it besides, where the provider tells that.

    Where nothing is told of it the provider asks the hooks by itself.
    """
    policy = resolve_task_emission_policy(task_instance.task, task_instance.dag_id, task_instance.task_id)
    if not policy.hook_lineage or not (told.inputs or told.outputs):
        return told
    noted = ExtractorManager().get_hook_lineage(task_instance, task_instance.state)
    if noted is None:
        return told
    return OperatorLineage(
        inputs=[*told.inputs, *_others(noted.inputs, told.inputs)],
        outputs=[*told.outputs, *_others(noted.outputs, told.outputs)],
    )


def _input_facets(selections: Iterable[Selection | None]) -> dict[str, InputDatasetFacet]:
    """The facets of a dataset of which all *selections* are read, ``None`` being the whole."""
    conditions: list[BaseSubsetCondition] = []
    for selection in selections:
        condition = None if selection is None else condition_of(selection)
        if condition is None:
            return {}
        conditions.append(condition)
    return {SUBSET: InputSubsetInputDatasetFacet(joined(conditions, "OR"))}


def _output_facets(lineage: RunLineage, asset: str) -> dict[str, OutputDatasetFacet]:
    """The facets of a dataset that an *asset* is written to."""
    facets: dict[str, OutputDatasetFacet] = {}
    condition = condition_of_keys(lineage.definition, [partition.wrapped for partition in lineage.partitions])
    if condition is not None:
        facets[SUBSET] = OutputSubsetOutputDatasetFacet(condition)
    counts = [each.get(asset) or {} for each in lineage.extras]
    rows, size, files = (_total(each.get(name) for each in counts) for name in ("rows", "bytes", "files"))
    if counts and (rows, size, files) != (None, None, None):
        facets[STATISTICS] = OutputStatisticsOutputDatasetFacet(rowCount=rows, size=size, fileCount=files)
    return facets


def _total(counts: Iterable[Any]) -> int | None:
    """The sum of *counts*, if all partitions have one."""
    numbers = list(counts)
    return sum(numbers) if all(type(number) is int for number in numbers) else None


def _others(noted: Iterable[Dataset], told: Iterable[Dataset]) -> list[Dataset]:
    """Those that are *noted* and not *told*."""
    places = {(dataset.namespace, dataset.name) for dataset in told}
    return [dataset for dataset in noted if (dataset.namespace, dataset.name) not in places]
