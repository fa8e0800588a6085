"""The process that started this one."""

from __future__ import annotations

import ctypes
import signal

_SIGNAL_OF_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def end_with_parent() -> None:
    """Have the kernel end this process when the one that started it is gone, however that ended."""
    ctypes.CDLL(None).prctl(_SIGNAL_OF_PARENT, signal.SIGTERM)
