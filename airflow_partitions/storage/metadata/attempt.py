"""Attempt to publish: one try of one run."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import attrs


@attrs.frozen
class Attempt:
    """One try of a task of one Dag run: who writes.

    A newer try of a run replaces what the earlier ones have created or appended, and is not replaced by one that comes
    late.

    :ivar dag_id: the Dag.
    :ivar run_id: the run; with the task in it, as in ``f"{run_id}/{task_id}"``, if several of its tasks append to one
        partition.
    :ivar number: the try, from 1; greater is newer.
    :ivar nonce: tells apart two executions that claim to be the same try.
    """

    dag_id: str
    run_id: str
    number: int
    nonce: str = attrs.field()

    @nonce.default
    def _unique(self) -> str:
        return secrets.token_hex(4)

    @property
    def token(self) -> str:
        """Short name of the run, safe in paths."""
        return hashlib.sha256(f"{self.dag_id}\0{self.run_id}".encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """Name of the try, safe in paths and used by nobody else."""
        return f"{self.token}-{self.number}-{self.nonce}"

    def __str__(self) -> str:
        return f"try {self.number} of run {self.run_id!r} of {self.dag_id!r}"

    def to_json(self) -> dict[str, Any]:
        """JSON form: ``Attempt(**form)`` reads it."""
        return attrs.asdict(self)
