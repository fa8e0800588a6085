"""What a driver needs of this package and its libraries, as one file: for drivers whose Python does not have them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_FOLDERS = ("checks", "core", "frames", "spark", "storage")
_MODULES = ("exports",)
#: Those that are written in Python only, so that any Python can use them. What is compiled can't come along.
_LIBRARIES = ("attrs", "croniter", "fsspec", "pathlib-abc", "python-dateutil", "six", "tzdata", "universal-pathlib")
#: Ends the package's ``__init__``. The driver's own libraries go before ours: others that it has fit to them.
_LIBRARIES_LAST = b"""
sys.path.append(f"{__path__[0].rpartition('/')[0]}/libraries")
"""


def make_archive(folder: Path) -> Path:
    """Make the file in *folder*, for ``--py-files``. The same content has the same name."""
    content = _content()
    file = folder / f"airflow_partitions-{hashlib.sha256(content).hexdigest()[:16]}.zip"
    file.write_bytes(content)
    return file


@cache
def _content() -> bytes:
    """The file's. A batch, or a triggerer, has many jobs, and to read and pack it takes a fifth of a second."""
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for name, data in (*_package(), *_libraries()):
            archive.writestr(ZipInfo(name), data, ZIP_DEFLATED, compresslevel=1)
    return content.getvalue()


def _package() -> Iterator[tuple[str, bytes]]:
    root = Path(__file__).parents[1]
    yield f"{root.name}/__init__.py", (root / "__init__.py").read_bytes() + _LIBRARIES_LAST
    files = [root / f"{name}.py" for name in _MODULES]
    files += [file for name in _FOLDERS for file in sorted((root / name).rglob("*.py"))]
    for file in files:
        yield file.relative_to(root.parent).as_posix(), file.read_bytes()


def _libraries() -> Iterator[tuple[str, bytes]]:
    for name in _LIBRARIES:
        library = distribution(name)
        for path in sorted(library.files or ()):
            if not {"..", "__pycache__"}.intersection(path.parts):
                yield f"libraries/{path.as_posix()}", Path(str(library.locate_file(path))).read_bytes()
