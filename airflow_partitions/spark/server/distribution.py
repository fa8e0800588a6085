"""A Spark on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Self

import attrs

from airflow_partitions.core.errors import MissingSparkError


@attrs.frozen
class Distribution:
    """A Spark that can serve.

    :ivar home: its folder, with ``bin`` and ``jars``.
    """

    home: Path

    @classmethod
    def here(cls) -> Self:
        """The pyspark of this environment.

        :raises MissingSparkError: if there is none that can serve.
        """
        spec = find_spec("pyspark")
        if spec is None or spec.origin is None or not list((Path(spec.origin).parent / "jars").glob("spark-connect_*")):
            raise MissingSparkError(
                "there is no pyspark with a server of Spark Connect here; expected"
                " pip install 'airflow-partitions[spark]'"
            )
        return cls(Path(spec.origin).parent)

    @property
    def version(self) -> str:
        """Its version, as ``4.1.3``."""
        return self.jar("spark-core_").stem.rpartition("-")[2]

    @property
    def jars(self) -> list[Path]:
        """All its jars."""
        return sorted((self.home / "jars").glob("*.jar"))

    def jar(self, name: str) -> Path:
        """The jar whose name begins with *name*."""
        (jar,) = (self.home / "jars").glob(f"{name}*.jar")
        return jar
