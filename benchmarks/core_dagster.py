"""Dagster's side of :mod:`benchmarks.core`; runs in an environment where Dagster is.

Where Dagster has several ways, the quickest is taken, private or not. Its definitions are made anew for each round,
since it keeps the keys of a product once they are listed.
"""

from __future__ import annotations

import warnings
from itertools import takewhile

warnings.simplefilter("ignore")

from dagster import (  # type: ignore[import-not-found]  # noqa: E402
    DailyPartitionsDefinition,
    HourlyPartitionsDefinition,
    MultiPartitionsDefinition,
    MultiToSingleDimensionPartitionMapping,
    StaticPartitionsDefinition,
    TimeWindowPartitionMapping,
    TimeWindowPartitionsDefinition,
)

from benchmarks.cases import DAYS, END, REGIONS, START, Work, sample, serve  # noqa: E402


def hourly(zone: str) -> HourlyPartitionsDefinition:
    return HourlyPartitionsDefinition(start_date=f"{START}-00:00", end_date=f"{END}-00:00", timezone=zone)


def daily(zone: str) -> DailyPartitionsDefinition:
    return DailyPartitionsDefinition(start_date=START, end_date=END, timezone=zone)


def days_and_regions(zone: str) -> MultiPartitionsDefinition:
    return MultiPartitionsDefinition({"date": daily(zone), "region": StaticPartitionsDefinition(REGIONS)})


def windows(zone: str) -> list:  # type: ignore[type-arg]
    definition = hourly(zone)
    end = definition.end_timestamp
    all_windows = definition._iterate_time_windows(definition.start_timestamp)  # noqa: SLF001
    return list(takewhile(lambda window: window.end.timestamp() <= end, all_windows))


def texts(zone: str) -> Work:
    definition = hourly(zone)
    return lambda: len(definition.get_partition_keys())


def objects(zone: str) -> Work:
    return lambda: len(windows(zone))


def quarters(zone: str) -> Work:
    definition = TimeWindowPartitionsDefinition(
        cron_schedule="*/15 * * * *",
        start=f"{START}-00:00",
        end=f"{END}-00:00",
        timezone=zone,
        fmt="%Y-%m-%d-%H:%M",
    )
    return lambda: len(definition.get_partition_keys())


def next_(zone: str) -> Work:
    definition, some = hourly(zone), sample(windows(zone))
    return lambda: len([definition.get_next_partition_window(window.end) for window in some])


def previous(zone: str) -> Work:
    definition, some = hourly(zone), sample(windows(zone))
    return lambda: len([definition.get_prev_partition_window(window.start) for window in some])


def next_text(zone: str) -> Work:
    definition = hourly(zone)
    keys = sample(list(definition.get_partition_keys()))
    return lambda: len([definition.get_next_partition_key(key) for key in keys])


def key_at(zone: str) -> Work:
    definition = hourly(zone)
    moments = [window.start for window in sample(windows(zone))]
    return lambda: len([definition.get_partition_key_for_timestamp(moment.timestamp()) for moment in moments])


def count(zone: str) -> Work:
    definition = hourly(zone)
    return lambda: sum(1 for _ in range(100) if definition.get_num_partitions())


def product(zone: str) -> Work:
    definition = days_and_regions(zone)
    return lambda: len([str(key) for key in definition.get_partition_keys()])


def product_first(zone: str) -> Work:
    definition = days_and_regions(zone)
    return lambda: len([definition.get_first_partition_key()])


def product_last(zone: str) -> Work:
    definition = days_and_regions(zone)
    return lambda: len([definition.get_last_partition_key()])


def _upstream(mapping, day, days, hours):  # type: ignore[no-untyped-def]
    subset = days.empty_subset().with_partition_keys([day])
    return mapping.get_upstream_mapped_partitions_result_for_partitions(subset, days, hours).partitions_subset


def day_hours(zone: str) -> Work:
    mapping, days, hours = TimeWindowPartitionMapping(), daily(zone), hourly(zone)
    keys = days.get_partition_keys()
    return lambda: sum(len(list(_upstream(mapping, day, days, hours).get_partition_keys())) for day in keys)


def day_ranges(zone: str) -> Work:
    mapping, days, hours = TimeWindowPartitionMapping(), daily(zone), hourly(zone)
    keys = days.get_partition_keys()
    return lambda: len([_upstream(mapping, day, days, hours) for day in keys])


def hour_day(zone: str) -> Work:
    mapping, days, hours = TimeWindowPartitionMapping(), daily(zone), hourly(zone)
    keys = sample(list(hours.get_partition_keys()))

    def work() -> int:
        count = 0
        for hour in keys:
            subset = hours.empty_subset().with_partition_keys([hour])
            mapped = mapping.get_downstream_partitions_for_partitions(subset, hours, days)
            count += len(list(mapped.get_partition_keys()))
        return count

    return work


def ten_years(zone: str) -> Work:
    mapping, days, hours = TimeWindowPartitionMapping(), daily(zone), hourly(zone)
    subset = hours.subset_with_all_partitions()

    def day_count() -> int:
        return len(mapping.get_downstream_partitions_for_partitions(subset, hours, days))

    return lambda: sum(1 for _ in range(100) if day_count() == DAYS)


def _regions(zone: str, ask):  # type: ignore[no-untyped-def]
    mapping = MultiToSingleDimensionPartitionMapping(partition_dimension_name="date")
    days, both = daily(zone), days_and_regions(zone)

    def subset_of(day: str):  # type: ignore[no-untyped-def]
        subset = days.empty_subset().with_partition_keys([day])
        return mapping.get_downstream_partitions_for_partitions(subset, days, both)

    some = sample(days.get_partition_keys())
    return lambda: len([ask(subset_of(day)) for day in some])


def day_regions(zone: str) -> Work:
    return _regions(zone, lambda subset: list(subset.get_partition_keys()))


def day_regions_range(zone: str) -> Work:
    return _regions(zone, lambda subset: subset)


def region_day(zone: str) -> Work:
    mapping = MultiToSingleDimensionPartitionMapping(partition_dimension_name="date")
    days, both = daily(zone), days_and_regions(zone)
    keys = sample(both.get_partition_keys())

    def work() -> int:
        count = 0
        for key in keys:
            subset = both.empty_subset().with_partition_keys([key])
            mapped = mapping.get_upstream_mapped_partitions_result_for_partitions(subset, both, days).partitions_subset
            count += len(list(mapped.get_partition_keys()))
        return count

    return work


if __name__ == "__main__":
    serve(
        {
            "texts": texts,
            "objects": objects,
            "datetimes": objects,  # its objects are the two datetimes
            "quarters": quarters,
            "next": next_,
            "previous": previous,
            "next_text": next_text,
            "key_at": key_at,
            "count": count,
            "product": product,
            "product_first": product_first,
            "product_last": product_last,
            "day_hours": day_hours,
            "day_ranges": day_ranges,
            "ten_years": ten_years,
            "hour_day": hour_day,
            "day_regions": day_regions,
            "day_regions_range": day_regions_range,
            "region_day": region_day,
        }
    )
