"""Names of the modules that ``py_files=`` brings along."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath


def modules_of(py_files: str | None) -> frozenset[str]:
    """Top-level modules in the comma-separated *py_files*; of archives that can't be opened here, their own name."""
    names: set[str] = set()
    for file in filter(None, map(str.strip, (py_files or "").split(","))):
        path = Path(file)
        names.add(PurePosixPath(file).name.partition(".")[0])
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                tops = (PurePosixPath(name).parts[0] for name in archive.namelist())
                names.update(top.removesuffix(".py") for top in tops)
    return frozenset(names)
