"""The wheel, as a stranger has it: beside Airflow in an empty environment, with the newest and the lowest versions."""

from __future__ import annotations

import json
import re
import sys
import tarfile
import time
from collections.abc import Iterator
from email.message import Message
from email.parser import Parser
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.packaging.stranger import PATIENCE, ROOT, Stranger, installed, uv

EXTRAS = ["avro", "iceberg", "openlineage", "polars", "s3", "spark"]
#: Providers of Airflow for platforms: of these one version is tried, the one in requirements.lock.
PLATFORMS = ["databricks", "emr", "google", "kubernetes"]
DAG_FILE = '''
"""One asset made in Python, and one with Spark that follows from it."""

from datetime import UTC, datetime
from pathlib import Path

from airflow_partitions import PartitionByInterval, asset, spark_asset
from airflow_partitions.storage import Parquet

LAKE = Path(__file__).parents[1] / "lake"
DAYS = PartitionByInterval("@daily", name="date", start="2024-01-01")
NUMBERS = Parquet(str(LAKE / "numbers"), partition=DAYS)
SUMS = Parquet(str(LAKE / "sums"), partition=DAYS)


# Without a start date the first run may be that of the next tick, tomorrow.
@asset(schedule="@daily", partition=DAYS, start_date=datetime(2024, 1, 1, tzinfo=UTC))
def numbers(partition):
    import pyarrow as pa

    NUMBERS.save({partition.key: pa.table({"number": [1, 2, 3]})})


@spark_asset(schedule=numbers, partition=DAYS, inputs={"numbers": NUMBERS}, storage=SUMS, strict=True)
def sums(numbers):
    return numbers.selectExpr("sum(number) as sum")
'''


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    uv("build", "--wheel", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(folder))
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


@pytest.fixture(scope="module", params=["highest", pytest.param("lowest-direct", marks=pytest.mark.long)])
def stranger(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stranger]:
    folder = tmp_path_factory.mktemp("stranger")
    versions = constraint = folder / "airflow.txt"
    constraint.write_text(f"apache-airflow=={version('apache-airflow')}\n")
    if request.param != "highest":  # what uv takes by itself
        # The bounds are those of pyproject.toml: what a wheel depends on is not direct, and uv would not lower it.
        versions = folder / "versions.txt"
        extras = [word for extra in EXTRAS for word in ("--extra", extra)]
        resolution = ["--constraint", str(constraint), "--resolution", request.param, "--output-file", str(versions)]
        uv("pip", "compile", "pyproject.toml", "--python", sys.executable, *extras, *resolution)
    package = f"airflow-partitions[{','.join(EXTRAS)}] @ {wheel.as_uri()}"
    with installed(folder, package, versions, DAG_FILE, f"pyspark=={version('pyspark')}") as stranger:
        yield stranger


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    package = "airflow_partitions"
    (info,) = {name.split("/")[0] for name in names if name.split("/")[0].endswith(".dist-info")}
    assert {name.split("/")[0] for name in names} == {package, info}
    assert {
        f"{package}/view/dist/partitions.umd.js",
        f"{package}/py.typed",
        f"{package}/engine/database/alembic.ini",
        f"{package}/engine/database/migrations/script.py.mako",
        f"{info}/licenses/LICENSE",
        f"{info}/entry_points.txt",
    } <= set(names)
    assert not [name for name in names if "/www/" in name]
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / package).rglob("*.py") if "www" not in path.parts}
    assert {name for name in names if name.endswith(".py")} == sources


def test_the_source_distribution_has_what_the_view_is_made_of(tmp_path: Path) -> None:
    uv("build", "--sdist", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(tmp_path))
    (file,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    view = "airflow_partitions/view"
    assert {f"{view}/dist/partitions.umd.js", f"{view}/www/package-lock.json", f"{view}/www/src/main.tsx"} <= set(names)
    assert not [name for name in names if "/node_modules/" in name]


def test_the_metadata(metadata: Message) -> None:
    assert metadata["License-Expression"] == "Apache-2.0"
    assert "Framework :: Apache Airflow :: Provider" in metadata.get_all("Classifier", [])
    assert sorted(metadata.get_all("Provides-Extra", [])) == sorted(EXTRAS + PLATFORMS)


@pytest.mark.long
@pytest.mark.parametrize("stranger", ["lowest-direct"], indirect=True)
def test_each_lower_bound_is_a_version_that_is_tested(stranger: Stranger, metadata: Message) -> None:
    everything = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    of_platforms = {f'extra == "{name}"' for name in PLATFORMS}
    requirements = [each for each in everything if str(each.marker) not in of_platforms]
    names = sorted({requirement.name for requirement in requirements})
    installed = json.loads(
        stranger.python(
            f"import json, importlib.metadata as m; print(json.dumps({{n: m.version(n) for n in {names}}}))"
        )
    )
    for requirement in requirements:
        (bound,) = (each for each in requirement.specifier if each.operator in (">=", "=="))
        assert Version(bound.version) == Version(installed[requirement.name]), requirement


def test_nothing_comes_from_the_checkout(stranger: Stranger) -> None:
    file = stranger.python("import airflow_partitions; print(airflow_partitions.__file__)")
    assert Path(file.strip()).is_relative_to(stranger.folder)


def test_airflow_lists_the_provider_and_the_plugin(stranger: Stranger) -> None:
    providers = stranger.json_of("providers", "list", "--output", "json")
    assert "airflow-partitions" in {provider["package_name"] for provider in providers}
    plugins = stranger.json_of("plugins", "--output", "json")
    assert "asset_partitions" in {plugin["name"] for plugin in plugins}


def test_airflow_makes_our_tables(stranger: Stranger) -> None:
    stranger.airflow("db", "migrate")
    stranger.airflow("db", "check-migrations", "--migration-wait-timeout", "1")
    program = """
        import airflow.settings
        from airflow_partitions.engine.database.connection import revision
        from airflow_partitions.engine.database.revision import REVISION

        print(revision() == REVISION)
        """
    assert stranger.python(program).splitlines()[-1] == "True"
    # By the migrations that the wheel holds, not by the models.
    stranger.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    stranger.airflow("db", "migrate", "--use-migration-files")
    assert stranger.python(program).splitlines()[-1] == "True"


@pytest.mark.spark
def test_airflow_makes_a_partition_in_python_and_one_with_spark_follows(stranger: Stranger) -> None:
    deadline = time.monotonic() + PATIENCE
    with stranger.standalone() as process:
        while not list(stranger.lake.glob("sums/date=*/*.parquet")):
            assert process.is_running, stranger.log
            assert time.monotonic() < deadline, stranger.log
            time.sleep(1)
        errors = stranger.json_of("dags", "list-import-errors", "--output", "json")
    assert errors == []
    rows = stranger.python(
        """
        from dags.stranger import SUMS

        print(SUMS.read(as_="arrow")["sum"].to_pylist())
        """
    )
    assert rows.strip() == "[6]"


@pytest.mark.spark
def test_the_command_makes_a_partition_with_spark(stranger: Stranger) -> None:
    stranger.python(
        """
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({"number": [1, 2, 3]}), "sample.parquet")
        """
    )
    sample = f"numbers={stranger.folder / 'sample.parquet'}"
    words = ("asset-partitions", "test", "sums", "2024-01-05", "--input", sample, "--output", "json")
    assert stranger.json_of(*words)["rows"] == [{"sum": 6}]


def test_the_other_extras(stranger: Stranger) -> None:
    output = stranger.python(
        """
        from pathlib import Path

        import polars

        from airflow_partitions import PartitionByInterval
        from airflow_partitions.storage import Avro
        from airflow_partitions.storage.filesystem.filesystem import at

        days = PartitionByInterval("@daily", name="date", start="2024-01-01")
        letters = Avro(str(Path("lake", "letters").resolve()), partition=days)
        letters.save({"2024-01-05": polars.DataFrame({"letter": ["a", "b"]})})
        for frame in ("polars", "pandas"):
            print(list(letters.read("2024-01-05", frame)["letter"]))
        print(type(at("s3://lake/letters", {"anon": True}).fs).__name__)
        """
    )
    assert output.splitlines() == ["['a', 'b']", "['a', 'b']", "S3FileSystem"]


def test_an_error_names_the_extra_that_is_missing(wheel: Path, tmp_path: Path) -> None:
    with installed(
        tmp_path, f"airflow-partitions @ {wheel.as_uri()}", ROOT / "requirements.lock", DAG_FILE
    ) as stranger:
        output = stranger.python(
            """
            from pathlib import Path

            import pyarrow

            from airflow_partitions import PartitionByInterval
            from airflow_partitions.core.errors import PartitionError
            from airflow_partitions.authoring.local.session import local_session
            from airflow_partitions.storage import Avro, Iceberg, Parquet

            days = PartitionByInterval("@daily", name="date", start="2024-01-01")
            numbers, key = Parquet(str(Path("lake", "numbers").resolve()), partition=days), "2024-01-05"
            numbers.save({key: pyarrow.table({"number": [1]})})
            letters, table = Avro(str(Path("lake", "avro").resolve()), partition=days), numbers.read(as_="arrow")
            for use in (
                lambda: letters.save({key: table}),
                lambda: numbers.read(key, "polars"),
                lambda: Parquet("s3://lake/numbers", partition=days).exists(key),
                lambda: Iceberg("db.numbers", credentials={"type": "sql"}, partition=days).exists(key),
                local_session,
            ):
                try:
                    use()
                except PartitionError as error:
                    print(error)
            """
        )
    assert [re.findall(r"pip install 'airflow-partitions\[(\w+)\]'", line) for line in output.splitlines()] == [
        ["avro"],
        ["polars"],
        ["s3"],
        ["iceberg"],
        ["spark"],
    ], output
