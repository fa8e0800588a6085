"""Assets of all kinds of partitions; :mod:`tests.view.estate` says what has become of them."""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset

from airflow_partitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    Partitioned,
    asset,
)

#: What segments may be called.
NAMES = ("EWR", "JFK", "LGA", "a/b|c", "مطار الملك خالد", "🛫 départ", "x" * 200)
NEW_YORK = {"timezone": "America/New_York", "start": "2024-03-01", "end": "2024-11-15"}  # both changes of its clocks
WINTER = PartitionByInterval("@daily", start="2013-01-01", end="2013-04-01", name="date")
AIRPORTS = PartitionBySequence(NAMES, name="airport")
REGIONS = PartitionBySequence([f"region-{number:02}" for number in range(50)], name="region")
YEARS = PartitionByInterval("@daily", start="2019-01-01", end="2024-06-23", name="date")
INGEST, ANALYSTS, SALES = {"owner": "ingest"}, {"owner": "analysts"}, {"owner": "sales"}


@asset(
    schedule="@hourly",
    partition=PartitionByInterval("@hourly", name="hour", **NEW_YORK),
    tags=["flights", "raw"],
    default_args=INGEST,
)
def hourly_departures() -> None:
    """Departures of all airports, hour by hour."""


@asset(
    schedule=hourly_departures,
    partition=PartitionByInterval("@daily", name="date", **NEW_YORK),
    tags=["flights"],
    default_args=ANALYSTS,
)
def daily_departures() -> None:
    """Departures of a day in New York, of 23, 24 or 25 hours."""


@asset(schedule=None, partition=PartitionByProduct([YEARS, REGIONS]), tags=["large"], default_args=ANALYSTS)
def region_days() -> None:
    """2,000 days of 50 regions."""


@asset(schedule="@daily", partition=WINTER, tags=["flights"], default_args=INGEST)
def days() -> None:
    """Days of a winter."""


@asset(schedule=days, partition=PartitionByProduct([WINTER, AIRPORTS]), tags=["flights"], default_args=ANALYSTS)
def airport_days() -> None:
    """Days of a winter, by airports with names of all kinds."""


@asset(
    schedule=None,
    partition=PartitionByProduct(
        [
            WINTER,
            PartitionBySequence(["EWR", "JFK", "LGA"], name="airport"),
            PartitionBySequence(["cargo", "people"], name="load"),
        ]
    ),
    default_args=ANALYSTS,
)
def load_days() -> None:
    """Three dimensions."""


@asset(schedule=None, partition=AIRPORTS, default_args=ANALYSTS)
def airports() -> None:
    """A list of airports."""


@asset(schedule=None, partition=PartitionAtRuntime(name="customer"), tags=["sales"], default_args=SALES)
def customers() -> None:
    """Keys that come at runtime."""


@asset(schedule="@monthly", partition=PartitionByInterval("@monthly", start="2020-01-01", name="month"))
def months() -> None:
    """Months until now; the one that is open has been made, too."""


@asset(schedule="@hourly", partition=PartitionByInterval("@hourly", start="2024-01-01", name="hour"))
def open_hours() -> None:
    """Hours until now, the last of which are at work."""


@asset(schedule="@daily", partition=PartitionByInterval("@daily", start="2999-01-01", name="date"))
def nothing_yet() -> None:
    """No partition is over yet."""


@asset(
    schedule=None,
    partition=PartitionByInterval("@daily", start="2023-01-01", end="2024-01-01", name="date"),
    default_args=SALES,
)
def deliveries() -> None:
    """What was delivered on each day of a year, but never on a Sunday."""


@asset(schedule=None, partition=PartitionBySequence(["only"], name="part"))
def single() -> None:
    """One partition."""


WEEK = PartitionByInterval("@hourly", start="2024-01-01", end="2024-01-08", name="hour")
SLASHES = Asset("s3://lake/hours")
with DAG("slashes", schedule=Partitioned("@hourly", WEEK, asset=SLASHES), tags=["raw"]):
    EmptyOperator(task_id="write", outlets=[SLASHES])
STEPS = Asset("steps")
with DAG("steps", schedule=Partitioned("@daily", WINTER, asset=STEPS), tags=["steps"]):
    load, clean = EmptyOperator(task_id="load"), EmptyOperator(task_id="clean")
    write, announce = EmptyOperator(task_id="write", outlets=[STEPS]), EmptyOperator(task_id="announce")
    load >> clean >> write >> announce


def chain(mart: int) -> None:
    """Three assets, each of the one before it."""
    upstream = days
    for step in ("clean", "joined", "report"):

        def function() -> None: ...

        function.__name__ = function.__qualname__ = f"mart_{mart}_{step}"
        owner = {"owner": f"team_{mart % 3}"}
        upstream = asset(schedule=upstream, partition=WINTER, tags=["mart"], default_args=owner)(function)


for number in range(9):
    chain(number)
