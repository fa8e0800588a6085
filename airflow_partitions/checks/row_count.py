"""Checks of how many rows there are."""

from __future__ import annotations

import attrs

from airflow_partitions.checks.check import Check
from airflow_partitions.checks.result import Observation
from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.checks.values import check_range, range_in_words
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.storage.metadata.counts import count
from airflow_partitions.storage.metadata.statistics import PartitionStatistics


@attrs.frozen
class RowCount(Check):
    """There are as many rows as expected.

    :param at_least: the fewest rows allowed.
    :param at_most: the most rows allowed.
    """

    at_least: int | None = attrs.field(default=None, kw_only=True)
    at_most: int | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        check_range(self.at_least, self.at_most, "RowCount()")

    @property
    def name(self) -> str:
        return "row count"

    @property
    def expected(self) -> str:
        return range_in_words(self.at_least, self.at_most)

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation:
        rows = staged.rows
        passed = (self.at_least is None or self.at_least <= rows) and (self.at_most is None or rows <= self.at_most)
        return Observation(passed, count(rows, "row"))


@attrs.frozen
class SameRowCount(Check):
    """There are as many rows as an input has, in the partitions that this one depends on.

    :param input: name of the input.
    """

    input: str

    @property
    def name(self) -> str:
        return f"row count of {self.input}"

    @property
    def expected(self) -> str:
        return f"as many as in {self.input}"

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.input,)

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation:
        rows = staged.row_count_of(self.input)
        return Observation(staged.rows == rows, f"{count(staged.rows, 'row')}, {rows:,} in {self.input}")


@attrs.frozen
class RowCountChange(Check):
    """There are about as many rows as in the partition before: the one back in time with the same segments, or back in
    the declared order. It passes where that is not stored.

    :param percent: how much more or less is allowed, of the rows before.
    """

    percent: float

    def __attrs_post_init__(self) -> None:
        if not self.percent >= 0:
            raise InvalidDefinitionError(f"RowCountChange({self.percent!r}); expected per cent, such as 20")

    @property
    def name(self) -> str:
        return "row count change"

    @property
    def expected(self) -> str:
        return f"at most {self.percent:g} % more or less than in the partition before"

    def by_statistics(self, staged: StagedPartition, statistics: PartitionStatistics) -> Observation:
        before = staged.row_count_before()
        if before is None:
            return Observation(True, f"{count(staged.rows, 'row')}; the partition before is not stored")
        partition, rows = before
        passed = abs(staged.rows - rows) <= rows * self.percent / 100
        change = f" ({(staged.rows - rows) / rows:+.1%})" if rows else ""
        return Observation(passed, f"{count(staged.rows, 'row')} after {rows:,} of {partition.text}{change}")
