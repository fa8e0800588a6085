"""What spark-submit is told of clusters, by the connections of the docs: a program in its place writes it down."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
from airflow.providers.apache.spark.hooks import spark_submit

from airflow_partitions import Partition
from airflow_partitions.core.errors import MissingSparkError
from airflow_partitions.spark.shipping import Shipped
from tests.spark.test_submit import run

HERE = Path(__file__).parent
_DOCS = HERE.parents[1] / "docs" / "guides" / "spark-clusters.md"
_SUBMIT = """#!{python}
import json, os, sys
json.dump([sys.argv[1:], dict(os.environ)], open({record!r}, "w"))
sys.path[:0] = [{here!r}]
import stub
stub.main(sys.argv)
print("Exit code: 0")  # as the log of a pod of Kubernetes ends
"""

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported, and when it reads from what it has started.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@attrs.frozen
class Submitted:
    """A command.

    :ivar options: those of spark-submit, each with its values.
    :ivar program: the path of the program.
    """

    options: dict[str, list[str]]
    program: str
    environment: dict[str, str]


@attrs.frozen
class Submit:
    """Stands for the spark-submit of another Spark."""

    folder: Path

    def install(self) -> None:
        binary = self.folder / "bin" / "spark-submit"
        binary.parent.mkdir()
        binary.write_text(
            _SUBMIT.format(python=sys.executable, record=str(self.folder / "command.json"), here=str(HERE))
        )
        binary.chmod(0o755)

    @property
    def submitted(self) -> Submitted:
        words, environment = json.loads((self.folder / "command.json").read_text())
        options: dict[str, list[str]] = {}
        for name, value in zip(words[:-1:2], words[1:-1:2], strict=True):
            options.setdefault(name, []).append(value)
        return Submitted(options, words[-1], environment)


@pytest.fixture
def submit(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Submit:
    program = Submit(tmp_path_factory.mktemp("spark"))
    program.install()
    monkeypatch.setenv("SPARK_HOME", str(program.folder))
    return program


def documented(heading: str) -> str:
    """The connection in the docs under *heading*."""
    (section,) = re.findall(rf"^### {heading}\n(.*?)(?=^##|\Z)", _DOCS.read_text(), re.MULTILINE | re.DOTALL)
    return str(re.findall(r"```json\n(.*?)```", section, re.DOTALL)[0])


FUNCTION = Shipped("f", "def f(flights):\n    return flights\n", ("flights",))


def make(lake: Any, **changes: Any) -> None:
    run(lake, Partition(lake.delays.partition, "2013-01-02|JFK"), function=FUNCTION, **changes)


@pytest.mark.parametrize(
    ("heading", "options"),
    [
        ("Standalone", {"--master": ["spark://spark-master:7077"]}),
        ("YARN", {"--master": ["yarn"], "--deploy-mode": ["cluster"], "--queue": ["etl"]}),
        (
            "Kubernetes",
            {
                "--master": ["k8s://https://kubernetes.default.svc:443"],
                "--deploy-mode": ["cluster"],
                "--conf": ["spark.kubernetes.namespace=spark"],
            },
        ),
    ],
)
def test_the_connections_of_the_docs(
    lake: Any, submit: Submit, monkeypatch: pytest.MonkeyPatch, heading: str, options: dict[str, list[str]]
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", documented(heading))
    monkeypatch.setattr(spark_submit, "kube_client", object(), raising=False)  # it would watch the driver's pod
    make(lake, py_files="/jobs/own.py", conf={"spark.kubernetes.container.image": "spark"})
    command = submit.submitted
    confs = command.options.pop("--conf")
    py_files = command.options.pop("--py-files")[0].split(",")
    assert command.options.pop("--name") == ["delays"]
    assert "spark.kubernetes.container.image=spark" in confs
    assert set(options.pop("--conf", ())) <= set(confs)
    assert py_files[0] == "/jobs/own.py"
    assert re.fullmatch(r"airflow_partitions-[0-9a-f]{16}\.zip", Path(py_files[1]).name)
    namespace = command.options.pop("--namespace", None)
    assert namespace in (None, ["spark"])
    assert command.options == options
    assert Path(command.program).parts[-3:] == ("spark", "program", "make_partition.py")
    assert "PYSPARK_DRIVER_PYTHON" not in command.environment
    assert lake.rows("2013-01-02|JFK")


def test_kubernetes_needs_a_client(lake: Any, submit: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", documented("Kubernetes"))
    monkeypatch.delattr(spark_submit, "kube_client", raising=False)
    with pytest.raises(MissingSparkError, match="which is not installed here; expected it: pip install kubernetes"):
        make(lake)


@pytest.mark.spark
def test_spark_runs_no_python_on_the_machines_of_a_standalone_cluster(tmp_path: Path) -> None:
    (tmp_path / "job.py").touch()
    words = ["spark-submit", "--master", "spark://127.0.0.1:1", "--deploy-mode", "cluster", str(tmp_path / "job.py")]
    words[0] = str(Path(sys.executable).with_name(words[0]))
    process = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert process.returncode
    assert "not supported for python applications on standalone clusters" in process.stderr
