"""What a driver without this package gets of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from airflow_partitions.spark import archive
from airflow_partitions.spark.archive import make_archive

#: A Python with nothing installed, which has the files of --py-files in its path.
BARE = (sys.executable, "-I", "-S", "-c")
_JOB = """
import sys, zoneinfo
sys.path.insert(0, sys.argv[1])
zoneinfo.reset_tzpath(to=[])  # a system without time zones
from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.spark import driver, job
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.filesystem.filesystem import at, read, write
definition = PartitionByInterval("30 6 * * MON", timezone="Europe/Berlin")
print(Partition(definition, "2013-11-04T06:30+01:00"))
Parquet("/lake/flights", partition=definition)
write(at("memory://lake/result"), b"1")
print(read(at("memory://lake/result")))
try:
    at("s3://lake/result")
except OSError as error:
    print(error)
"""


def test_it_is_all_that_a_driver_needs(tmp_path: Path) -> None:
    file = make_archive(tmp_path)
    process = subprocess.run([*BARE, _JOB, str(file)], capture_output=True, text=True, check=False, timeout=60)
    assert process.returncode == 0, process.stderr
    key, content, missing = process.stdout.splitlines()
    assert (key, content) == ("2013-11-04T06:30+01:00", "b'1'")
    assert "Install s3fs" in missing
    assert "on a Spark driver of another Python: pip install s3fs" in missing


def test_the_drivers_own_libraries_go_before_those_that_come_along(tmp_path: Path) -> None:
    (tmp_path / "six.py").touch()
    program = "import sys; sys.path[:0] = sys.argv[1:]; import airflow_partitions, six; print(six.__file__)"
    words = [*BARE, program, str(make_archive(tmp_path)), str(tmp_path)]
    output = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout
    assert Path(output.strip()) == tmp_path / "six.py"


def test_the_same_content_has_the_same_name(tmp_path: Path) -> None:
    archives = []
    for _ in range(2):
        archive._content.cache_clear()
        archives.append(make_archive(tmp_path))
    assert len(set(archives)) == 1


def test_any_python_can_use_it(tmp_path: Path) -> None:
    with ZipFile(make_archive(tmp_path)) as file:
        names = file.namelist()
    assert not [name for name in names if name.endswith((".so", ".pyd", ".pyc"))]
    assert {name.partition("/")[0] for name in names} == {"airflow_partitions", "libraries"}
    assert "libraries/tzdata/zoneinfo/America/New_York" in names
