"""``airflow asset-partitions spark-server``: it shows what a server needs, and starts one that can't stay dead."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_partitions.operate.cli.spark_server import spark_server
from airflow_partitions.spark.server.connect_server import ConnectServer
from airflow_partitions.spark.server.listener import JAR

QUERY = "from pyspark.sql import SparkSession as S; print(S.builder.getOrCreate().range(3).count())"


def call(**words: Any) -> None:
    usual = {"spark": None, "start": False, "port": 15002, "memory": None, "conf": [], "packages": None, "jars": None}
    spark_server(Namespace(**{**usual, "output": "table", **words}))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("airflow.configuration.AIRFLOW_HOME", str(tmp_path))
    return tmp_path


def test_it_shows_the_jar_and_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    call()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(str(JAR))
    assert [line.split("=")[0] for line in lines[1:]] == [
        "--conf spark.driver.extraClassPath",
        "--conf spark.sql.extensions",
        "--conf spark.sql.queryExecutionListeners",
    ]
    call(spark="4.0", output="json")
    shown = json.loads(capsys.readouterr().out)
    assert (shown["spark"], shown["jar"], len(shown["settings"])) == ("4.0", str(JAR), 3)


def test_a_spark_without_listener_is_named() -> None:
    with pytest.raises(SystemExit, match=r"no listener for Spark '3\.5'; expected one of: 4\.0"):
        call(spark="3.5")


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(SystemExit, match=rf"port {port} is in use .*--port"):
            call(start=True, port=port)


def test_a_machine_without_java_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(SystemExit, match=r"there is no Java on this machine; expected 17 or 21"):
        call(start=True)


def test_an_environment_with_a_client_only_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airflow_partitions.spark.server.distribution.find_spec", lambda _: None)
    for start in (False, True):
        with pytest.raises(SystemExit, match=r"no pyspark with a server.*airflow-partitions\[spark\]"):
            call(start=start)


def test_a_setting_without_value_is_named() -> None:
    with pytest.raises(SystemExit, match=r"--conf 'spark\.ui': expected NAME=VALUE"):
        call(start=True, conf=["spark.ui"])


def test_a_token_that_others_may_read_is_refused(home: Path) -> None:
    token = home / "spark-server-token"
    token.write_text("secret")
    token.chmod(0o644)
    with pytest.raises(SystemExit, match=r"others may read the token .*mode 644.*chmod 600"):
        call(start=True)


def test_settings_are_added_to_ours() -> None:
    more = {"spark.sql.extensions": "a.B", "spark.driver.extraClassPath": "/opt/s3.jar"}
    server = ConnectServer(memory="3g", token="secret", conf={**more, "spark.sql.shuffle.partitions": "8"})
    conf = server._conf()
    assert conf["spark.driver.extraClassPath"].endswith("airflow-partitions-spark.jar:/opt/s3.jar")
    assert conf["spark.sql.extensions"] == "airflow_partitions.Extensions,a.B"
    assert (conf["spark.sql.shuffle.partitions"], conf["spark.driver.memory"]) == ("8", "3g")
    assert conf["spark.connect.grpc.binding.address"] == "127.0.0.1"
    assert "secret" not in " ".join(conf.values()), "it would show in the list of processes"


def test_the_listener_comes_last_on_the_class_path_where_nobody_sets_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("SPARK_DIST_CLASSPATH", raising=False)
    first, last = "spark.driver.extraClassPath", "SPARK_DIST_CLASSPATH"

    def class_path(**conf: str) -> tuple[str | None, str | None]:
        settings, environment = ConnectServer(conf=conf)._launch()
        return settings.get(first), environment.get(last)

    assert class_path() == (None, str(JAR))
    assert class_path(**{first: "/opt/s3.jar"}) == (f"{JAR}:/opt/s3.jar", None)
    monkeypatch.setenv(last, "/opt/hadoop/*")
    assert class_path() == (None, f"/opt/hadoop/*:{JAR}")
    (tmp_path / "spark-env.sh").touch()
    assert class_path() == (str(JAR), "/opt/hadoop/*")


@pytest.fixture
def started(home: Path) -> Iterator[tuple[subprocess.Popen[str], Callable[[], dict[str, Any]]]]:
    """The command, and what it says next."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = ["asset-partitions", "spark-server", "--start", "--port", str(port), "--memory", "1g", "--output", "json"]
    environment = {**os.environ, "AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"}
    airflow = str(Path(sys.executable).with_name("airflow"))
    with (home / "log").open("w") as log:
        command = subprocess.Popen([airflow, *words], env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
    assert command.stdout is not None
    output = command.stdout

    def next_line() -> dict[str, Any]:
        for line in output:
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        raise AssertionError((home / "log").read_text())

    yield command, next_line
    command.kill()
    command.wait()
    output.close()


def ask(port: int, token: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SPARK_REMOTE": f"sc://localhost:{port}/;token={token}"}
    return subprocess.run([sys.executable, "-c", QUERY], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.spark
def test_a_server_that_was_killed_is_started_again_and_ends_with_the_command(
    started: tuple[subprocess.Popen[str], Callable[[], dict[str, Any]]], home: Path
) -> None:
    command, next_line = started
    first = next_line()
    assert first["connection"] == {"conn_type": "spark_connect", "host": "sc://localhost", "port": first["port"]}
    file = Path(first["token_file"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    token = file.read_text()
    refused = ask(first["port"], "wrong")
    assert refused.returncode != 0
    assert "UNAUTHENTICATED" in refused.stderr or "Invalid authentication token" in refused.stderr
    server = psutil.Process(first["pid"])
    assert not any(token in word for word in server.cmdline())
    addresses = {end.laddr.ip for end in server.net_connections("tcp") if end.status == psutil.CONN_LISTEN}
    assert addresses <= {"127.0.0.1", "::ffff:127.0.0.1"}
    server.send_signal(signal.SIGKILL)
    second = next_line()
    assert (second["port"], second["pid"] == first["pid"]) == (first["port"], False)
    assert ask(second["port"], token).stdout.strip() == "3"
    assert token not in (home / "log").read_text()
    command.kill()
    psutil.Process(second["pid"]).wait(timeout=60)


@pytest.mark.spark
def test_a_server_that_ends_at_once_says_where_to_look(tmp_path: Path) -> None:
    from airflow_partitions.core.errors import UnreachableError

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    server = ConnectServer(port=port, log=tmp_path / "server.log", memory="1 potato")
    with pytest.raises(UnreachableError, match=rf"ended with status \d+; see what it said in {tmp_path}/server\.log"):
        server.start()
    assert server.pid is None
