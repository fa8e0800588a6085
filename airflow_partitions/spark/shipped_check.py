"""Checks by functions that are shipped to a Spark driver, which calls them over the rows that its job wrote."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.checks.audit import attempt
from airflow_partitions.checks.check import missing_column
from airflow_partitions.checks.function import FunctionCheck, observed
from airflow_partitions.checks.result import CheckResult, Observation, Severity
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.spark.shipping import Shipped, ship

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EXPECTED = "whether all is well (True or False), or a DataFrame of the rows that fail"


@attrs.frozen(kw_only=True)
class ShippedCheck:
    """A check that the job makes.

    :ivar name: of the check.
    :ivar expected: what there should be, in words.
    :ivar table: the table it is about, if the storage has tables.
    :ivar parameter: the parameter that gets the rows.
    :ivar columns: the columns of these; ``None`` for all.
    """

    name: str
    severity: Severity
    expected: str
    table: str
    parameter: str
    columns: list[str] | None
    function: Shipped

    def result(self, staged: StagedPartition, spark: SparkSession) -> CheckResult:
        """What it says of *staged*.

        :raises StorageError: if what was written can't be read.
        """
        own = staged.table(self.table) if self.table else staged
        missing = missing_column(self.columns or (), list(own.schema), "what was written")
        observation = Observation(False, missing) if missing else attempt(partial(self._observe, own, spark))
        return CheckResult.of(self.name, self.severity, self.expected, observation)

    def _observe(self, staged: StagedPartition, spark: SparkSession) -> Observation:
        own = {
            "spark": spark,
            "partition": staged.partition,
            self.parameter: staged.read_as("spark", self.columns, spark),
        }
        return observed(self.function.load()(**{name: own[name] for name in self.function.parameters}))

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {**attrs.asdict(self, recurse=False), "function": self.function.to_json()}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> ShippedCheck:
        """The inverse of :meth:`to_json`."""
        return cls(**{**form, "function": Shipped.from_json(form["function"])})


def ship_check(check: FunctionCheck, modules: Collection[str]) -> ShippedCheck:
    """The *check* as the job makes it.

    :param modules: top-level modules shipped with the job.
    :raises ShippingError: if its function can't be shipped; the message names the variable and the way out.
    """
    return ShippedCheck(
        name=check.full_name,
        severity=check.severity,
        expected=check.expected,
        table=check.table,
        parameter=check.parameter,
        columns=None if check.columns is None else list(check.columns),
        function=ship(check.function, inputs=[check.parameter], modules=modules, returns=_EXPECTED),
    )
