"""Where the jobs of Spark assets run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
from airflow.sdk.exceptions import AirflowException

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.demand import Demand
    from airflow_partitions.spark.engines.job import SparkJob


class Engine(ABC):
    """What makes an Airflow operator of a job.

    Everything else follows from the operator: its ``execute`` starts the job and watches it, its ``on_kill`` cancels
    it, and what it raises is why the job failed. An engine is a value: nothing of a job is kept in it.

    The text in its fields is rendered as templated fields are, when the task runs, if it is a class of attrs.
    """

    #: Whether one job may make several partitions, each by itself.
    shares_jobs: ClassVar[bool] = True
    #: Whether a job that has the token of an earlier one *is* that one, so that a task that was killed finds it again.
    finds_jobs: ClassVar[bool] = False
    #: Parameters of ``SparkSubmitOperator``, given to an asset, that this engine understands; ``None`` for all.
    words: ClassVar[frozenset[str] | None] = frozenset()

    @property
    def conf(self) -> Mapping[str, str]:
        """Spark properties of all its jobs; those of an asset replace them."""
        return {}

    def place(self, demand: Demand) -> str:
        """Where it runs the jobs of *demand*, in words for messages."""
        return type(self).__name__

    def check(self, demand: Demand) -> None:  # noqa: B027 - most engines have no more to say
        """Refuse the jobs of *demand*, before anything is made for one.

        :raises PartitionError: if they can't run here; the message says what can.
        """

    def has_failed(self, error: Exception) -> bool:
        """Whether what an operator has raised means that its job has ended without success.

        Any other error is raised as it is, or, of a job that can be found again, as :class:`.UnansweredError`.
        """
        return isinstance(error, AirflowException)

    @abstractmethod
    def operator(self, job: SparkJob) -> BaseOperator:
        """The operator that runs *job*, and ends when it has ended."""

    def rendered(self, render: Callable[[Any], Any]) -> Self:
        """This engine, with its fields as *render* gives them."""
        kind: Any = type(self)
        if not attrs.has(type(self)):
            return self
        fields = (field for field in attrs.fields(kind) if field.init)
        rendered: Self = kind(**{field.alias: render(getattr(self, field.name)) for field in fields})
        return rendered
