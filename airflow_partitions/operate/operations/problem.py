"""Problems of an estate, as the doctor finds them, and what mends them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.operate.contract.doctor import Kind, RemedyKind
from airflow_partitions.operate.states.apart import asked_apart


@attrs.frozen
class Remedy:
    """What mends a problem.

    :ivar kind: the operation: one of ours, for the asset or the request of the problem; ``unpause-dag`` is Airflow's
        own ``PATCH /dags/{dag_id}``; a ``command`` is to be typed.
    :ivar select: which partitions it is about, as text.
    """

    kind: RemedyKind
    select: str | None = None
    command: str | None = None


@attrs.frozen(kw_only=True)
class Problem:
    """Something that does not go on by itself.

    :ivar text: a sentence.
    :ivar is_error: whether it can't work as it is; else it is stuck, or late.
    :ivar request: number of the request it is about.
    :ivar remedy: what mends it; ``None`` if nothing here does, or the asker may not.
    """

    kind: Kind
    text: str
    is_error: bool = False
    dag_id: str | None = None
    asset: str | None = None
    request: int | None = None
    remedy: Remedy | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return attrs.asdict(self)


def untold(asset: str, what: str, error: Exception) -> Problem:
    """That something of an *asset* can't be told.

    :param what: that is looked for, as in "what is late".
    """
    return Problem(
        kind="check",
        text=f"asset {asset!r}: {what} can't be told: {type(error).__name__}: {error}; if what is kept of it is"
        f" damaged, this writes it anew: airflow asset-partitions reconcile {asset}",
        is_error=True,
        asset=asset,
        remedy=Remedy("reconcile"),
    )


def told_apart(
    assets: Iterable[PartitionedAsset], what: str, problems: Callable[[PartitionedAsset], Iterable[Problem]]
) -> Iterator[Problem]:
    """The *problems* of each of some *assets*; what can't be told of one keeps none from being told of another.

    :param what: that is looked for, as for :func:`untold`.
    """
    for asset in assets:
        found = asked_apart(
            [asset],
            lambda some: {each.name: list(problems(each)) for each in some},
            lambda broken, error: [untold(broken.name, what, error)],
        )
        yield from found[asset.name]
