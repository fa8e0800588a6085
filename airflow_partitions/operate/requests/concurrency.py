"""How many runs of requests Airflow works on at a time."""

from __future__ import annotations

from airflow import __version__ as airflow_version
from packaging.version import Version

#: It looks at all of them from here on.
_MENDED = Version("3.4.0a0")
_SECTION, _OPTION = "scheduler", "max_dagruns_per_loop_to_schedule"


def concurrency_note(concurrency: int) -> str | None:
    """What Airflow makes of a request with so many runs at a time; ``None`` if that is what it says.

    Of the running runs of all backfills Airflow 3.3 looks at the first ones only, in the order of their backfills
    (``DagRun.get_running_dag_runs_to_examine``).
    """
    from airflow.configuration import conf

    limit = conf.getint(_SECTION, _OPTION, fallback=20)
    if concurrency <= limit or Version(airflow_version) >= _MENDED:
        return None
    return (
        f"concurrency={concurrency:,}: Airflow {airflow_version} goes on with no more than {limit} running runs of all"
        f" requests and backfills together; raise [{_SECTION}] {_OPTION}, ask for fewer at a time, or let one task make"
        " many partitions (batch=)"
    )
