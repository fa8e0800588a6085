"""Results of checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Literal, TypeAlias

import attrs

#: What a failed check does: fail the task, or say so and publish.
Severity: TypeAlias = Literal["error", "warn"]
#: How many of the rows that fail a check are told, and how much of each.
SHOWN = 5
_LONGEST = 500


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _first(rows: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    return tuple(islice(rows, SHOWN))


def _texts(rows: Iterable[str]) -> tuple[str, ...]:
    return tuple(rows)


@attrs.frozen
class Observation:
    """What a check found.

    :ivar passed: whether it is as it should be.
    :ivar observed: what there is, in words.
    :ivar rows: some of the rows that fail, column to value.
    """

    passed: bool
    observed: str = attrs.field(converter=_cut)
    rows: tuple[Mapping[str, Any], ...] = attrs.field(default=(), converter=_first)


@attrs.frozen(kw_only=True)
class CheckResult:
    """The outcome of one check of a partition.

    :ivar name: of the check, such as ``no nulls in origin``.
    :ivar passed: whether it is as it should be.
    :ivar severity: what it does if not: ``"error"`` fails the task, ``"warn"`` only says so.
    :ivar expected: what there should be, in words.
    :ivar observed: what there is, in words.
    :ivar rows: some of the rows that fail, as text. They are in the message of the error and in no event.
    """

    name: str
    passed: bool
    severity: Severity = "error"
    expected: str
    observed: str
    rows: tuple[str, ...] = attrs.field(default=(), converter=_texts)

    @classmethod
    def of(cls, name: str, severity: Severity, expected: str, observation: Observation) -> CheckResult:
        """The result of a check that made this *observation*."""
        return cls(
            name=name,
            passed=observation.passed,
            severity=severity,
            expected=_cut(expected),
            observed=observation.observed,
            rows=[_cut(str(dict(row))) for row in observation.rows],
        )

    def describe(self) -> str:
        """The result, in one line."""
        rows = f"; such as {', '.join(self.rows)}" if self.rows else ""
        return f"{self.name}: {self.observed}; expected {self.expected}{rows}"

    def summary(self) -> dict[str, Any]:
        """The result for the asset event: without rows, which may hold what is not for everyone."""
        return attrs.asdict(self, filter=lambda field, _: field.name != "rows")
