"""Our side of :mod:`benchmarks.core`."""

from __future__ import annotations

from random import Random

from airflow_partitions import (
    Dependency,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    ProductKey,
    Selection,
)
from benchmarks.cases import DAYS, END, REGIONS, SAMPLE, START, Work, sample, serve


def hourly(zone: str, schedule: str = "@hourly") -> PartitionByInterval:
    return PartitionByInterval(schedule, timezone=zone, start=START, end=END)


def daily(zone: str) -> PartitionByInterval:
    return PartitionByInterval("@daily", timezone=zone, start=START, end=END, name="date")


def days_and_regions(zone: str) -> PartitionByProduct:
    return PartitionByProduct([daily(zone), PartitionBySequence(REGIONS, name="region")])


def texts(zone: str) -> Work:
    definition = hourly(zone)
    return lambda: len(list(map(str, definition.keys())))


def objects(zone: str) -> Work:
    definition = hourly(zone)
    return lambda: len(list(definition.keys()))


def datetimes(zone: str) -> Work:
    definition = hourly(zone)
    return lambda: len([(key.start, key.end) for key in iter(definition.keys())])


def quarters(zone: str) -> Work:
    definition = hourly(zone, "*/15 * * * *")
    return lambda: len(list(map(str, definition.keys())))


def next_(zone: str) -> Work:
    definition = hourly(zone)
    keys = sample(list(definition.keys()))
    return lambda: len([definition.next(key) for key in keys])


def previous(zone: str) -> Work:
    definition = hourly(zone)
    keys = sample(list(definition.keys()))
    return lambda: len([definition.previous(key) for key in keys])


def next_text(zone: str) -> Work:
    definition = hourly(zone)
    keys = sample(list(map(str, definition.keys())))
    return lambda: len([str(definition.next(key)) for key in keys])


def key_at(zone: str) -> Work:
    definition = hourly(zone)
    moments = [key.start for key in sample(list(definition.keys()))]
    return lambda: len([str(definition.key_at(moment)) for moment in moments])


def count(zone: str) -> Work:
    definition = hourly(zone)
    return lambda: sum(1 for _ in range(100) if definition.count())


def product(zone: str) -> Work:
    definition = days_and_regions(zone)
    return lambda: len(list(map(str, definition.keys())))


def product_first(zone: str) -> Work:
    definition = days_and_regions(zone)
    return lambda: len([definition.first()])


def product_last(zone: str) -> Work:
    definition = days_and_regions(zone)
    return lambda: len([definition.last()])


def day_hours(zone: str) -> Work:
    dependency, days = Dependency(downstream=daily(zone), upstream=hourly(zone)), list(daily(zone).keys())
    return lambda: sum(len([str(key) for key in dependency.upstream(day)]) for day in days)


def day_ranges(zone: str) -> Work:
    dependency, days = Dependency(downstream=daily(zone), upstream=hourly(zone)), list(daily(zone).keys())
    return lambda: len([dependency.upstream(day) for day in days])


def hour_day(zone: str) -> Work:
    dependency, hours = Dependency(downstream=daily(zone), upstream=hourly(zone)), sample(list(hourly(zone).keys()))
    return lambda: sum(len([str(key) for key in dependency.downstream(hour)]) for hour in hours)


def ten_years(zone: str) -> Work:
    definition, days = hourly(zone), daily(zone)
    hours = Selection.between(definition, definition.start, definition.end)
    dependency = Dependency(downstream=days, upstream=definition)
    return lambda: sum(1 for _ in range(100) if len(dependency.downstream(hours)) == DAYS)


def day_regions(zone: str) -> Work:
    dependency = Dependency(downstream=days_and_regions(zone), upstream=daily(zone))
    days = sample(list(daily(zone).keys()))
    return lambda: len([[str(key) for key in dependency.downstream(day)] for day in days])


def day_regions_range(zone: str) -> Work:
    dependency = Dependency(downstream=days_and_regions(zone), upstream=daily(zone))
    days = sample(list(daily(zone).keys()))
    return lambda: len([dependency.downstream(day) for day in days])


def region_day(zone: str) -> Work:
    dependency = Dependency(downstream=days_and_regions(zone), upstream=daily(zone))
    keys = sample(list(days_and_regions(zone).keys()))
    return lambda: sum(len([str(day) for day in dependency.upstream(key)]) for key in keys)


def combinations(zone: str, schedule: str, values: int) -> PartitionByProduct:
    """A year, times four dimensions of segments."""
    time = PartitionByInterval(schedule, timezone=zone, start="2023-01-01", end="2024-01-01")
    texts = [f"value-{n:02}" for n in range(values)]
    return PartitionByProduct([time, *(PartitionBySequence(texts, name=f"dimension_{n}") for n in range(4))])


def everything(definition: PartitionByProduct) -> Selection:
    time = definition.time
    assert time is not None
    assert time.start is not None
    assert time.end is not None
    return Selection.between(definition, time.start, time.end)


def some(definition: PartitionByProduct) -> Selection:
    """3,000 keys, far apart."""
    random = Random(1)
    time = definition.time
    assert time is not None
    intervals = random.sample(list(time.keys()), 3_000)
    choices = [dimension.segments for dimension in definition.segments]
    keys = (ProductKey(tuple(definition.dimensions), (i, *map(random.choice, choices))) for i in intervals)
    return Selection.of(definition, *keys)


def without_one(zone: str) -> Work:
    definition = combinations(zone, "@daily", 26)
    whole, one = everything(definition), Selection.of(definition, definition.first())
    return lambda: int((whole - one) != whole)


def without_some(zone: str) -> Work:
    definition = combinations(zone, "@hourly", 20)
    whole, keys = everything(definition), some(definition)
    return lambda: int(bool(whole - keys))


def and_some(zone: str) -> Work:
    definition = combinations(zone, "@hourly", 20)
    whole, keys = everything(definition), some(definition)
    return lambda: int((whole | keys) == whole)


def unknown(_: str) -> Work:
    definition = PartitionBySequence([f"value-{n:05}" for n in range(10_000)])
    return lambda: sum(not definition.contains(f"valu-{n}") for n in range(SAMPLE))


if __name__ == "__main__":
    serve(
        {
            "texts": texts,
            "objects": objects,
            "datetimes": datetimes,
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
            "without_one": without_one,
            "without_some": without_some,
            "and_some": and_some,
            "unknown": unknown,
        }
    )
