"""Make the jar of the listener, the same bytes each time: ``python -m airflow_partitions.spark.server.build``.

The compiler is Eclipse's, of one version, so that a Java without ``javac`` is enough; Ivy, which Spark brings, fetches
it from Maven Central.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from airflow_partitions.spark.server.distribution import Distribution
from airflow_partitions.spark.server.listener import JAR, source_hash, sources

COMPILER = ("org.eclipse.jdt", "ecj", "3.40.0")
#: The Java that the oldest Spark of these runs on.
_RELEASE = "17"


def build(spark: Distribution, jar: Path, *, cache: Path | None = None) -> None:
    """Compile the listener against the jars of *spark*, and write *jar*.

    :param cache: keeps the compiler; by default where Ivy keeps such things.
    :raises subprocess.CalledProcessError: if it can't be compiled, or there is no compiler; the output tells why.
    """
    with tempfile.TemporaryDirectory() as folder:
        classes = Path(folder, "classes")
        options = [f"-{_RELEASE}", "-encoding", "UTF-8", "-g", "-proceedOnError:Fatal", "-nowarn", "-d", str(classes)]
        paths = ["-classpath", os.pathsep.join(map(str, spark.jars))]
        _java(_compiler(spark, Path(folder), cache), *options, *paths, *map(str, sources()))
        _pack({path.relative_to(classes).as_posix(): path.read_bytes() for path in classes.rglob("*.class")}, jar)


def _compiler(spark: Distribution, folder: Path, cache: Path | None) -> list[str]:
    """How Java is told to run the compiler."""
    ivy = ["-cp", str(spark.jar("ivy-")), "org.apache.ivy.Main"]
    where = [] if cache is None else ["-cache", str(cache)]
    pattern = str(folder / "[type]" / "[artifact].[ext]")
    _java(ivy, *where, "-dependency", *COMPILER, "-notransitive", "-retrieve", pattern)
    return ["-jar", str(folder / "jar" / "ecj.jar")]


def _java(program: list[str], *words: str) -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    subprocess.run([java, *program, *words], check=True, capture_output=True, text=True)


def _pack(classes: Mapping[str, bytes], jar: Path) -> None:
    """A jar whose bytes depend on nothing but these: not on a clock, an order of files or a version of zlib."""
    manifest = f"Manifest-Version: 1.0\r\nSource-SHA-256: {source_hash()}\r\n\r\n"
    with ZipFile(jar, "w") as archive:
        for name, content in {"META-INF/MANIFEST.MF": manifest.encode(), **dict(sorted(classes.items()))}.items():
            archive.writestr(ZipInfo(name), content)


def main() -> None:
    """Make the jar anew."""
    parser = argparse.ArgumentParser(description="Make the jar of the listener.")
    parser.add_argument("--spark-home", type=Path, help="A Spark with its jars (default: that of this Python)")
    home = parser.parse_args().spark_home
    try:
        build(Distribution.here() if home is None else Distribution(home), JAR)
    except subprocess.CalledProcessError as error:
        raise SystemExit(error.stdout + error.stderr) from None
    print(JAR)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
