"""The log of a batch: a section for each partition, which Airflow's pages fold."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

log = logging.getLogger(__name__)

#: What is held back in this thread, each with the handler that it is for.
_HELD: ContextVar[list[tuple[logging.Handler, logging.LogRecord]] | None] = ContextVar("held", default=None)
_ONE_AT_A_TIME = Lock()


@contextmanager
def log_section(key: str) -> Iterator[None]:
    """A part of the log."""
    log.info("::group::Partition %s", key)
    try:
        yield
    finally:
        log.info("::endgroup::")


@contextmanager
def sections_apart() -> Iterator[None]:
    """Let sections that are written by :func:`whole_section` in threads come one after the other, for the block."""
    handlers = list(logging.getLogger().handlers)
    filters = [_HoldBack(handler) for handler in handlers]
    for handler, held in zip(handlers, filters, strict=True):
        handler.addFilter(held)
    try:
        yield
    finally:
        for handler, held in zip(handlers, filters, strict=True):
            handler.removeFilter(held)


@contextmanager
def whole_section() -> Iterator[None]:
    """Hold back what this thread logs until the block ends."""
    held: list[tuple[logging.Handler, logging.LogRecord]] = []
    token = _HELD.set(held)
    try:
        yield
    finally:
        _HELD.reset(token)
        with _ONE_AT_A_TIME:
            for handler, record in held:
                handler.handle(record)


class _HoldBack(logging.Filter):
    """Keeps what a handler is given, where it is to be held back."""

    def __init__(self, handler: logging.Handler) -> None:
        super().__init__()
        self._handler = handler

    def filter(self, record: logging.LogRecord) -> bool:
        held = _HELD.get()
        if held is None:
            return True
        held.append((self._handler, record))
        return False
