"""Published partitions, read from the S3 store as any program with our package reads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

import attrs

from cluster.home import ClusterHome
from demo.home import CHECKOUT
from demo.landing import NEW_YORK
from demo.published import total

if TYPE_CHECKING:
    from pandas import DataFrame


@attrs.frozen
class Published:
    """What is stored of the assets of ``dags/flights.py``.

    :ivar keys: by asset, those that are there.
    """

    keys: dict[str, frozenset[str]]
    _rows: dict[str, dict[tuple[str, ...], DataFrame]]

    @classmethod
    def read(cls, home: ClusterHome, keys: Mapping[str, Sequence[str]]) -> Published:
        """Read the partitions *keys* of each asset, those that are there."""
        module = _dags(home)
        there, rows = {}, {}
        for asset, texts in keys.items():
            storage = getattr(module, asset).storage
            there[asset] = frozenset(map(str, storage.get_many(texts)))
            frame = storage.read([text for text in texts if text in there[asset]], as_="pandas")
            columns = [name for name in ("hour", "date", "airport") if name in frame]
            rows[asset] = {tuple(map(str, values)): group for values, group in frame.groupby(columns)}
        return cls(there, rows)

    def totals(self, asset: str, key: str) -> dict[str, float]:
        """The number of rows of a partition, and the total of each column that has one; empty if it is not there."""
        if key not in self.keys[asset]:
            return {}
        rows = self._rows[asset].get(_columns(key))
        return {"rows": 0} if rows is None else total(rows)


def _columns(key: str) -> tuple[str, ...]:
    """The values of the partition columns."""
    if "T" in key:
        return (f"{datetime.fromisoformat(key).astimezone(NEW_YORK):%Y-%m-%dT%H:%M%z}",)
    return tuple(key.split("|"))


def _dags(home: ClusterHome) -> Any:
    """The Dag file, in the environment of the cluster."""
    os.environ |= {
        name: value for name, value in home.environment(dict(os.environ)).items() if name.startswith("AIRFLOW")
    }
    os.environ["AIRFLOW__LOGGING__LOGGING_LEVEL"] = "WARNING"  # the provider tells of each connection
    spec = spec_from_file_location("flights", CHECKOUT / "dags" / "flights.py")
    if spec is None or spec.loader is None:
        raise ImportError(CHECKOUT / "dags" / "flights.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
