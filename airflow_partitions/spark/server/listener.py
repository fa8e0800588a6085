"""The jar by which a server of Spark Connect counts what is read, and refuses what was not promised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from airflow_partitions.core.errors import MissingSparkError

_FOLDER = Path(__file__).parent
#: The jar, in this installation.
JAR = _FOLDER / "airflow-partitions-spark.jar"
#: The versions of Spark that it is for: compiled for each, it is the same, byte for byte.
SPARKS = ("4.0", "4.1", "4.2", "4.3")


def settings(version: str, jar: str | Path = JAR) -> Mapping[str, str]:
    """What a server of Spark is told to load the listener.

    All are lists: other jars may stand beside this one, after a colon, and other names beside these, after a comma.

    :param version: of its Spark, as ``4.1`` or ``4.1.3``.
    :param jar: where the jar is on the server's machine.
    :raises MissingSparkError: if there is no listener for it.
    """
    match = re.match(r"\d+\.\d+(?=\.|$)", version)
    if match is None or match[0] not in SPARKS:
        raise MissingSparkError(
            f"there is no listener for Spark {version!r}; expected one of: {', '.join(SPARKS)}. Without it a server of"
            " Spark Connect works, too, but nothing is counted there and strict=True is refused"
        )
    return {
        "spark.driver.extraClassPath": str(jar),
        "spark.sql.extensions": "airflow_partitions.Extensions",
        "spark.sql.queryExecutionListeners": "airflow_partitions.Listener",
    }


def sources() -> list[Path]:
    """What the jar is made of."""
    return sorted((_FOLDER / "java").glob("*.java"))


def source_hash() -> str:
    """The SHA-256 of the sources, as the jar names it in its manifest."""
    digest = sha256()
    for path in sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
