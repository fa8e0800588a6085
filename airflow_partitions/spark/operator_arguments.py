"""What an operator of Spark jobs refuses when it is declared."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from airflow.sdk import BaseOperator

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.spark.engines.engine import Engine
from airflow_partitions.storage.io import writer_for
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.storage import Storage

#: Parameters of our operator, of which some are those of ``SparkSubmitOperator``, too, and those of any operator.
_OTHERS = (
    frozenset(("self", "kwargs", "application", "conn_id", "deferrable", "conf", "name", "durable"))
    | inspect.signature(BaseOperator.__init__).parameters.keys()
)


def submit_words(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Those of *arguments* that are words for spark-submit, the ones of ``default_args`` among them."""
    words = {**(arguments.get("default_args") or {}), **arguments}
    unknown = words.keys() - _OTHERS
    if not unknown:  # then a Dag file is read in a second less
        return {}
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

    return {
        word: words[word]
        for word in sorted(unknown & inspect.signature(SparkSubmitOperator.__init__).parameters.keys())
    }


def check_storage(storage: Storage, asset: str) -> None:
    """Refuse what no asset makes by Spark."""
    if storage.partition is None or storage.ownership is not Ownership.OWNED:
        reason = "is not bound to a definition"
        if storage.partition is not None:
            reason = f"has ownership={storage.ownership.value!r}, so no asset makes all of it"
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: storage {storage.path!r} {reason}; expected Parquet(…).of(definition) of its own"
        )
    for written in map(storage.table, storage.members) if storage.members else [storage]:
        writer_for("spark", written).check(written)


def check_durable(durable: Any, asset: str) -> None:
    """Refuse that Airflow's operator remembers its jobs by the task."""
    if durable:
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: durable=True would take the outcome of an earlier job for this one's: a cleared"
            " task would succeed without running; expected durable=False, the default here"
        )


def check_deferrable(deferrable: bool, engine: Engine | None, words: Mapping[str, Any], asset: str) -> None:
    """Refuse to wait without a worker where the job could not go on, or nobody could ask for it."""
    if not deferrable:
        return
    if engine is not None:
        name = type(engine).__name__
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: deferrable=True, and its engine is a {name}, which has that as an argument of its"
            f" own where it can; expected {name}(…, deferrable=True)"
        )
    if words.get("deploy_mode") == "client":
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: deferrable=True, and deploy_mode='client', where the driver lives as long as the"
            " task does; expected deploy_mode='cluster', or no deferrable="
        )
    if words.get("yarn_rm_auth") is not None:
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: deferrable=True, and yarn_rm_auth={words['yarn_rm_auth']!r}, an object of this"
            " process that Airflow's triggerer can't be given; expected Kerberos by keytab and principal of the"
            " connection, a ResourceManager that answers without, or no deferrable="
        )


def check_engine(engine: Engine | None, words: Iterable[str], asset: str) -> None:
    """Refuse what is no engine, and *words* that it does not understand."""
    if engine is None:
        return
    if not isinstance(engine, Engine):
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: engine={engine!r}; expected an Engine of airflow_partitions.spark.engines, or none"
            " and a connection of type spark or spark_connect"
        )
    if engine.words is not None and (unknown := sorted(set(words) - engine.words)):
        raise InvalidDefinitionError(
            f"spark asset {asset!r}: {', '.join(unknown)} belongs to spark-submit, and its engine is a"
            f" {type(engine).__name__}; expected it in the arguments of that"
        )
