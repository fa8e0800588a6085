"""The archive of classes that jobs start with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from airflow_partitions.operate.cli.spark_classes import write_classes
from airflow_partitions.spark.class_archive import write_class_archive
from tests.conftest import CLASSES

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::DeprecationWarning")]  # Airflow's own


def test_a_job_takes_its_classes_from_the_archive(tmp_path: Path) -> None:
    if not CLASSES.exists():  # the Makefile writes it by the command
        write_class_archive(CLASSES)
    loaded = tmp_path / "loaded"
    run_job(f"-XX:SharedArchiveFile={CLASSES} -Xlog:class+load:file={loaded}")
    lines = loaded.read_text().splitlines()
    spark = [line for line in lines if "org.apache.spark" in line and "Lambda" not in line and "$Proxy" not in line]
    ours = [line for line in spark if "shared objects file (top)" in line]
    assert len(ours) > 0.9 * len(spark)


def run_job(options: str) -> None:
    program = "from pyspark.sql import SparkSession as S; S.builder.getOrCreate().range(9).count()"
    file = Path(options.rsplit("=", 1)[1]).with_name("program.py")
    file.write_text(program)
    words = ["--master", "local[1]", "--conf", f"spark.driver.extraJavaOptions={options}", str(file)]
    subprocess.run([str(Path(sys.executable).with_name("spark-submit")), *words], check=True, capture_output=True)


@pytest.mark.long
def test_the_command_writes_an_archive_and_says_what_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "spark.jsa"
    write_classes(SimpleNamespace(file=str(archive)))  # type: ignore[arg-type]
    setting = json.loads(capsys.readouterr().out.splitlines()[-1])["conf"]
    assert setting == {"spark.driver.extraJavaOptions": f"-XX:SharedArchiveFile={archive}"}
    assert list(tmp_path.iterdir()) == [archive]


@pytest.mark.long
def test_java_s_reason_is_told_where_there_can_be_no_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.log.level WARN")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    with pytest.raises(SystemExit, match="non-empty directory"):
        write_classes(SimpleNamespace(file=str(tmp_path / "spark.jsa")))  # type: ignore[arg-type]
    assert [file.name for file in tmp_path.iterdir()] == ["spark-defaults.conf"]
