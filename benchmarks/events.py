"""Asset events registered per second, with 10 consumers of ours beside 10 with Airflow's own mappers."""

from __future__ import annotations

import statistics
import sys
from time import process_time

from benchmarks.metadata import Row, main

ROUNDS = 10
EVENTS = 24
WANTED_RATIO = 0.9


def measure() -> list[Row]:
    """A day of hours a round, each event in a transaction of its own, as from the REST API; the sides by turns."""
    from datetime import timedelta

    from benchmarks.history import FIRST, hours, native_text, our_text

    texts = {"ours": our_text, "native": native_text}
    rates: dict[str, list[float]] = {"ours": [], "native": []}
    for number in range(ROUNDS + 1):
        for side in rates if number % 2 else reversed(rates):
            day = [texts[side](hour) for hour in hours(FIRST + timedelta(days=number), EVENTS)]
            seconds = _register(side, day)
            if number:  # the first one warms up
                rates[side].append(EVENTS / seconds)
    ours, native = (statistics.median(rates[side]) for side in ("ours", "native"))
    return [
        {
            "what": "events per second of processor time",
            "ours": f"{ours:.1f}",
            "native": f"{native:.1f}",
            "ratio": f"{ours / native:.2f} x",
            "wanted": f">= {WANTED_RATIO} x",
            "missed": ours / native < WANTED_RATIO,
        }
    ]


def _register(asset: str, keys: list[str]) -> float:
    """Seconds of processor time to register one event for each key."""
    from airflow.assets.manager import asset_manager
    from airflow.serialization.definitions.assets import SerializedAssetUniqueKey
    from airflow.utils.session import create_session

    started = process_time()
    for key in keys:
        with create_session() as session:
            asset_manager.register_asset_change(
                asset=SerializedAssetUniqueKey(name=asset, uri=asset), session=session, partition_key=key
            )
    return process_time() - started


if __name__ == "__main__":
    sys.exit(main("events", str(__doc__), measure))
