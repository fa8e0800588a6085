"""What was counted of a session, however it was."""

from __future__ import annotations

from typing import Protocol

from airflow_partitions.spark.proof.scan import ObservedScan


class Proof(Protocol):
    """Counts of what one session read."""

    @property
    def counts(self) -> bool:
        """Whether anything was counted at all."""

    @property
    def renewable(self) -> bool:
        """Whether the session may go on with another promise than the one it began with."""

    def scans(self) -> list[ObservedScan]:
        """All scans that ran so far.

        :raises ResultError: if a plan could not be looked at: then nothing is proved.
        """

    def unseen(self) -> tuple[str, ...]:
        """What was read and not counted, in words."""

    def unwatched(self) -> tuple[str, ...]:
        """What may have read by itself, where nobody can look: code of the job, in words."""
