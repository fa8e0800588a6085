"""Packages by which Spark knows formats that are not its own."""

from __future__ import annotations

#: The release of Iceberg that is tested here, and the Sparks for which it has a package.
_ICEBERG, _SPARKS = "1.12.0", ("3.5", "4.0", "4.1")


def iceberg_package(minor: str) -> str:
    """The package of Iceberg for the *minor* version of Spark, such as ``"4.1"``."""
    return f"org.apache.iceberg:iceberg-spark-runtime-{minor}_{_scala(minor)}:{_ICEBERG}"


def advice_on(kind: str, version: str) -> str:
    """What a Spark of that *version* needs to know the format *kind*."""
    minor = ".".join(version.split(".")[:2])
    if kind == "avro":
        return f"its package: spark.jars.packages=org.apache.spark:spark-avro_{_scala(minor)}:{version}"
    if kind != "iceberg":
        return "the package of the format"
    if minor in _SPARKS:
        return f"its package: spark.jars.packages={iceberg_package(minor)}"
    sparks = f"{', '.join(_SPARKS[:-1])} or {_SPARKS[-1]}"
    return f"Spark {sparks}, for which Iceberg {_ICEBERG} has a package: none is known for Spark {minor}"


def _scala(minor: str) -> str:
    """The version of Scala that Spark comes with: before 4.0, unless it was built otherwise, an older one."""
    return "2.12" if minor.startswith("3.") else "2.13"
