"""Questions about many assets, of which one that is broken takes no other with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from airflow_partitions.core.errors import NotMigratedError
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset

T = TypeVar("T")


def asked_apart(
    assets: Sequence[PartitionedAsset],
    ask: Callable[[Sequence[PartitionedAsset]], Mapping[str, T]],
    instead: Callable[[PartitionedAsset, Exception], T],
) -> dict[str, T]:
    """What comes of asking for *assets*, by name.

    :param ask: asks for some of them by the same few statements.
    :param instead: what is told of one that can't be read.
    """
    try:
        return dict(ask(assets))
    except (OperationalError, NotMigratedError):  # nothing can be told of any
        raise
    except Exception as error:  # noqa: BLE001 - told in the row of the asset
        if half := len(assets) // 2:  # halved until the broken one is alone
            return asked_apart(assets[:half], ask, instead) | asked_apart(assets[half:], ask, instead)
        return {asset.name: instead(asset, error) for asset in assets}
