"""Sparks beside the one of this environment, each with a Python of its own: made when first asked for, and kept.

They take 340 to 480 MB each, in ``.sparks`` of the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import attrs

ROOT = Path(__file__).parents[2]
#: Minor version to release, and the Pythons it is tried with: the first that is here, else that of this environment.
RELEASES = {
    "3.5": ("3.5.9", ("3.10", "3.11")),
    "4.0": ("4.0.5", ("3.10", "3.11", "3.12")),
    "4.1": ("4.1.4", ("3.10", "3.12", "3.13")),
    "4.2": ("4.2.1", ("3.12", "3.13", "3.11")),
    "4.3": ("4.3.0", ("3.13", "3.12", "3.11")),
}
#: What runs the tests of this folder there.
_TEST_TOOLS = ("attrs", "croniter", "hypothesis", "pandas<3", "psutil", "pytest", "pytest-timeout", "universal-pathlib")


@attrs.frozen
class OtherSpark:
    """A Spark in an environment of its own."""

    release: str
    folder: Path

    @classmethod
    def of(cls, minor: str) -> OtherSpark:
        """The *minor* version, such as ``"3.5"``."""
        release, pythons = RELEASES[minor]
        spark = cls(release, ROOT / ".sparks" / release)
        if not (spark.folder / "ready").exists():
            _uv("venv", "--quiet", "--clear", "--python", next(_pythons(pythons)), str(spark.folder))
            _uv("pip", "install", "--quiet", "--python", str(spark.python), f"pyspark=={release}", "pyarrow")
            (spark.folder / "ready").touch()
        return spark

    def with_client(self) -> OtherSpark:
        """The same, with what its client of Spark Connect needs besides."""
        if not (self.folder / "with-client").exists():
            _uv("pip", "install", "--quiet", "--python", str(self.python), f"pyspark[connect]=={self.release}")
            (self.folder / "with-client").touch()
        return self

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    @property
    def python(self) -> Path:
        return self.bin / "python"

    @property
    def home(self) -> Path:
        (home,) = self.folder.glob("lib/python*/site-packages/pyspark")
        return home

    def test(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run pytest there, of this checkout."""
        tools = self.folder / "test-tools"  # where drivers do not find them
        if not tools.exists():
            _uv("pip", "install", "--quiet", "--python", str(self.python), "--target", str(tools), *_TEST_TOOLS)
        others = ("PYTEST", "PYSPARK", "SPARK_HOME")
        mine = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        return subprocess.run(
            [str(self.python), "-m", "pytest", "-p", "no:cacheprovider", "-q", *words],
            cwd=ROOT,
            env={**mine, "PYTHONPATH": str(tools)},
            capture_output=True,
            text=True,
            check=False,
        )


def _uv(*words: str) -> None:
    subprocess.run([str(Path(sys.executable).with_name("uv")), "--system-certs", *words], check=True)


def _pythons(versions: tuple[str, ...]) -> Iterator[str]:
    """Those of *versions* that are on this machine, and ours."""
    for version in versions:
        candidates = [which(f"python{version}"), *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
        for candidate in filter(None, candidates):
            # pyenv has programs of all names, of which some only say that they are not there.
            if subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
                yield candidate
    yield sys.executable
