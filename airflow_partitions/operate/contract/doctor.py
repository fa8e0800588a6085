"""Operations about what does not go on by itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from airflow_partitions.operate.contract.operation import Answer, Operation

Kind = Literal[
    "graph",
    "cell",
    "check",
    "no-upkeep",
    "import-error",
    "missing-dag",
    "failed-runs",
    "api-address",
    "connection",
    "folder",
    "package",
    "no-slots",
    "paused-dag",
    "missed-events",
    "late",
    "waiting",
    "orphans",
    "request-failed",
    "request-stopped",
    "request-paused",
    "concurrency",
]
RemedyKind = Literal["unpause-dag", "reconcile", "materialize", "retry-request", "resume-request", "command"]


class Remedy(Answer):
    """What mends a problem."""

    kind: RemedyKind = Field(
        description="An operation for the asset or the request of the problem; unpause-dag is Airflow's own PATCH of"
        " the Dag; a command is to be typed"
    )
    select: str | None = Field(description="Which partitions it is about, as text")
    command: str | None = Field(examples=["airflow asset-partitions upkeep --loop"])


class DoctorProblem(Answer):
    """Something that does not go on by itself."""

    kind: Kind
    text: str = Field(description="A sentence")
    is_error: bool = Field(description="Whether it can't work as it is; else it is stuck, or late")
    dag_id: str | None
    asset: str | None
    request: int | None = Field(description="Number of the request it is about")
    remedy: Remedy | None = Field(description="What mends it; null if nothing here does, or one may not")


class Diagnosis(Answer):
    """What can't work as the Dags are now, and what is stuck or late."""

    problems: list[DoctorProblem] = Field(description="None if all is well")
    complete: bool = Field(description="Whether it is about all assets, not only those that one may read")


class ListProblems(Operation, route="GET /doctor", answer=Diagnosis, noun="upkeep", refusals=(429,)):
    """What can't work, what is stuck or late, and what mends it, of what one may read."""

    records: Annotated[
        bool, Field(description="Look at each record of the ledgers, too, which takes seconds for 100,000 of them")
    ] = True

    @property
    def is_heavy(self) -> bool:
        """Whether records are looked at."""
        return self.records
