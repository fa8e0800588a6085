"""Patience with a platform that gives no answer for a time."""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self

import attrs

log = logging.getLogger(__name__)
#: So many questions in a row may stay without an answer: a platform that is started anew is away for minutes.
LIMIT = 10


@attrs.define
class Patience:
    """A block that asks a question, again and again. An answer renews the patience.

    :param errors: what is raised where there is no answer.
    """

    errors: tuple[type[Exception], ...]
    _failures: int = attrs.field(default=0, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            self._failures = 0
            return False
        self._failures += 1
        if not isinstance(error, self.errors) or self._failures > LIMIT:
            return False
        log.warning("No answer, so it is asked again (%d of %d): %s", self._failures, LIMIT, error)
        return True
