"""Exchanging two paths in one step."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_AT_FDCWD = -100
_NOREPLACE = 1
_EXCHANGE = 2
# What kernels and file systems answer that can't do it (NFS, some overlay and network mounts).
_UNABLE = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}


def exchange(one: Path, other: Path) -> bool:
    """Exchange two existing paths of one file system in one step: a reader sees one or the other, never none.

    :return: whether the file system could; if not, nothing was changed.
    """
    return _renameat2(one, other, _EXCHANGE)


def move(source: Path, target: Path) -> None:
    """Rename *source* to *target*.

    :raises FileExistsError: if there is a *target*; nothing was changed.
    """
    if not _renameat2(source, target, _NOREPLACE):
        # Without help of the kernel the test and the rename are two steps; callers hold the storage's lock.
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        source.rename(target)


def replace(new: Path, target: Path, old: Path) -> bool:
    """Put *new* in the place of *target*, and what was there to *old*.

    On local Linux file systems this is one step. Elsewhere it is two renames: for some microseconds there is nothing
    at *target*, and a crash between the two leaves the previous content at *old*.

    :return: whether it was one step.
    """
    if exchange(new, target):
        move(new, old)
        return True
    move(target, old)
    try:
        move(new, target)
    except OSError:
        move(old, target)
        raise
    return False


def _renameat2(source: Path, target: Path, flag: int) -> bool:
    call = _libc_renameat2()
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNABLE:
        return False
    raise OSError(code, os.strerror(code), str(source), None, str(target))


@cache
def _libc_renameat2() -> Any:
    """The C library's call, or ``None`` where there is none."""
    if sys.platform != "linux":
        return None
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call
