"""The jar by which a server of Spark Connect counts what is read, and refuses what was not promised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import attrs

from airflow_partitions.errors import MissingSparkError

_FOLDER = Path(__file__).parent
_NAME = "airflow-partitions-spark-{0}.jar"


@attrs.frozen
class Listener:
    """The listener for one minor version of Spark.

    :ivar spark: the version, as ``4.1``.
    """

    spark: str

    @classmethod
    def of(cls, version: str) -> Listener:
        """The listener for a *version* of Spark, as ``4.1`` or ``4.1.3``.

        :raises MissingSparkError: if there is none.
        """
        match = re.match(r"\d+\.\d+(?=\.|$)", version)
        if match is None or match[0] not in versions():
            raise MissingSparkError(
                f"there is no listener for Spark {version!r}; expected one of: {', '.join(versions())}. Without it a"
                " server of Spark Connect works, too, but nothing is counted and strict=True is refused"
            )
        return cls(match[0])

    @property
    def jar(self) -> Path:
        """The jar, in this installation."""
        return _FOLDER / "jars" / _NAME.format(self.spark)

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of a server that has the jar where it is here. The last two are lists: other names may stand
        beside these, after a comma."""
        return {
            "spark.driver.extraClassPath": str(self.jar),
            "spark.sql.extensions": "airflow_partitions.Extensions",
            "spark.sql.queryExecutionListeners": "airflow_partitions.Listener",
        }


def versions() -> list[str]:
    """The minor versions of Spark that there is a listener for, oldest first."""
    pattern = re.compile(re.escape(_NAME).replace(re.escape("{0}"), r"(\d+)\.(\d+)"))
    names = (pattern.fullmatch(path.name) for path in (_FOLDER / "jars").iterdir())
    return [".".join(map(str, pair)) for pair in sorted((int(m[1]), int(m[2])) for m in names if m is not None)]


def sources() -> list[Path]:
    """What the jars are made of."""
    return sorted((_FOLDER / "java").glob("*.java"))


def source_hash() -> str:
    """The SHA-256 of the sources, as each jar names it in its manifest."""
    digest = sha256()
    for path in sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
