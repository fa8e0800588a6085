"""Problems of an estate, as the doctor finds them, and what mends them."""

from __future__ import annotations

from typing import Any

import attrs

from airflow_partitions.operate.contract.doctor import Kind, RemedyKind


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
