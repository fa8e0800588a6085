"""All operations."""

from __future__ import annotations

from airflow_partitions.operate.contract.assets import ListAssets, ShowAsset
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.contract.changes import ListChanges
from airflow_partitions.operate.contract.corrections import Adopt, Forget, Mark, Remember
from airflow_partitions.operate.contract.doctor import ListProblems
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.contract.fill import FillAssets
from airflow_partitions.operate.contract.grid import ShowGrid
from airflow_partitions.operate.contract.keys import AddKeys, ListKeys, RemoveKeys
from airflow_partitions.operate.contract.late import ListLate
from airflow_partitions.operate.contract.missed import ListMissed, SkipMissed
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.operate.contract.orphans import ListOrphans
from airflow_partitions.operate.contract.requests import (
    CancelRequest,
    DeleteRequest,
    ListRequests,
    MaterializePartitions,
    PauseRequest,
    PlanPartitions,
    ResumeRequest,
    RetryRequest,
    ShowRequest,
)
from airflow_partitions.operate.contract.states import CountStates, ListMaterializations, ListStates, ShowPartition
from airflow_partitions.operate.contract.tasks import ShowTasks
from airflow_partitions.operate.contract.upkeep import Reconcile, ShowUpkeep
from airflow_partitions.operate.contract.values import ShowValues

#: In the order of the OpenAPI document.
OPERATIONS: tuple[type[Operation], ...] = (
    ListAssets,
    ShowAsset,
    ListKeys,
    AddKeys,
    RemoveKeys,
    ListStates,
    CountStates,
    ListMaterializations,
    ShowPartition,
    ShowGrid,
    ShowValues,
    ShowTasks,
    ShowBoard,
    PlanPartitions,
    MaterializePartitions,
    FillAssets,
    ListRequests,
    ShowRequest,
    PauseRequest,
    ResumeRequest,
    CancelRequest,
    RetryRequest,
    DeleteRequest,
    Mark,
    Forget,
    Remember,
    Adopt,
    ListProblems,
    ShowUpkeep,
    Reconcile,
    ListOrphans,
    ListLate,
    ListFailures,
    ListChanges,
    ListMissed,
    SkipMissed,
)
