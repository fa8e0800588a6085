"""Where the jobs of Spark assets run.

Names are loaded when first used: those of platforms need Airflow's provider for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "Databricks": "databricks",
    "DataprocCluster": "dataproc_cluster",
    "DataprocServerless": "dataproc_serverless",
    "EmrOnEc2": "emr_on_ec2",
    "EmrOnEks": "emr_on_eks",
    "EmrServerless": "emr_serverless",
    "Engine": "engine",
    "Glue": "glue",
    "Kubernetes": "kubernetes",
    "ManagedEngine": "managed",
    "SparkJob": "job",
    "StagedJob": "job",
}

__all__ = [
    "Databricks",
    "DataprocCluster",
    "DataprocServerless",
    "EmrOnEc2",
    "EmrOnEks",
    "EmrServerless",
    "Engine",
    "Glue",
    "Kubernetes",
    "ManagedEngine",
    "SparkJob",
    "StagedJob",
]

if TYPE_CHECKING:
    from airflow_partitions.spark.engines.databricks import Databricks
    from airflow_partitions.spark.engines.dataproc_cluster import DataprocCluster
    from airflow_partitions.spark.engines.dataproc_serverless import DataprocServerless
    from airflow_partitions.spark.engines.emr_on_ec2 import EmrOnEc2
    from airflow_partitions.spark.engines.emr_on_eks import EmrOnEks
    from airflow_partitions.spark.engines.emr_serverless import EmrServerless
    from airflow_partitions.spark.engines.engine import Engine
    from airflow_partitions.spark.engines.glue import Glue
    from airflow_partitions.spark.engines.job import SparkJob, StagedJob
    from airflow_partitions.spark.engines.kubernetes import Kubernetes
    from airflow_partitions.spark.engines.managed import ManagedEngine


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
