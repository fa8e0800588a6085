"""Metrics that Spark records of the queries that ran."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BETWEEN = "\x1e"


class SqlMetrics:
    """The queries of a session. The metrics of a plan are those of its last run; here are those of each."""

    def __init__(self, spark: SparkSession) -> None:
        self._store = spark._jsparkSession.sharedState().statusStore()  # noqa: SLF001
        self._first = 0

    def begin(self) -> None:
        """Leave out what there is."""
        last = self._store.executionsList(max(self._store.executionsCount() - 1, 0), 1)
        self._first = last.apply(0).executionId() + 1 if last.size() else 0

    def values(self, metrics: Collection[int]) -> dict[int, list[int]]:
        """The value of each of *metrics* in each of the queries that changed it."""
        by_metric: dict[int, list[int]] = {number: [] for number in metrics}
        for texts in self._ran():
            for number in texts.keys() & by_metric.keys():
                if value := int(texts[number].replace(",", "")):
                    by_metric[number].append(value)
        return by_metric

    def _ran(self) -> Iterator[dict[int, str]]:
        """Text of the metrics of each query, by their id."""
        listed = self._store.executionsList()
        numbers = (listed.apply(i).executionId() for i in range(listed.size()))
        for number in numbers:
            if number >= self._first:
                text: Any = self._store.executionMetrics(number).mkString(_BETWEEN)
                pairs = (pair.partition(" -> ") for pair in text.split(_BETWEEN) if pair)
                yield {int(metric): value for metric, _, value in pairs}
