"""Of which Spark's Python a driver's is."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_partitions.spark.driver import prefer_installed


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A Spark as pip installs it."""
    return package(tmp_path / "packages")


def package(folder: Path) -> Path:
    """A pyspark in a *folder* of packages."""
    home = folder / "pyspark"
    home.mkdir(parents=True)
    (home / "__init__.py").touch()
    return home


def path(home: Path, *others: Path) -> list[str]:
    """Python's path in a driver that spark-submit has started from *home*."""
    return ["/program", f"{home}/python/lib/pyspark.zip", f"{home}/python/lib/py4j-0.10.9.9-src.zip", *map(str, others)]


def test_of_an_installed_spark_it_is_the_compiled_one(installed: Path) -> None:
    there = path(installed, installed.parent)
    prefer_installed(there, str(installed))
    assert there == ["/program", f"{installed}/python/lib/py4j-0.10.9.9-src.zip", str(installed.parent)]


def test_it_is_found_by_a_link(installed: Path, tmp_path: Path) -> None:
    link = tmp_path / "spark"
    link.symlink_to(installed)
    there = path(link, installed.parent)
    prefer_installed(there, str(link))
    assert f"{link}/python/lib/pyspark.zip" not in there


def test_another_spark_brings_its_own(installed: Path, tmp_path: Path) -> None:
    other = tmp_path / "spark-4.0"
    other.mkdir()
    there = path(other, installed.parent)
    prefer_installed(there, str(other))
    assert there == path(other, installed.parent)


def test_an_installed_one_behind_another_is_not_what_python_finds(installed: Path, tmp_path: Path) -> None:
    first = package(tmp_path / "first")
    there = path(installed, first.parent, installed.parent)
    prefer_installed(there, str(installed))
    assert there == path(installed, first.parent, installed.parent)


def test_a_platform_that_starts_python_itself_is_left_alone(installed: Path) -> None:
    there = ["/program", str(installed.parent)]
    prefer_installed(there, None)
    prefer_installed(there, str(installed))
    assert there == ["/program", str(installed.parent)]
