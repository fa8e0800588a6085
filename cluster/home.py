"""Where the cluster keeps what it makes, and the settings of its services."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import attrs

from demo.home import CHECKOUT, JAVA_OPTIONS, Home
from demo.processes import free_port

#: Where each port is to be, if it is free.
PORTS = {
    "api-server": 8080,
    "postgres": 15432,
    "s3": 9000,
    "spark-master": 7077,
    "spark-master-ui": 8090,
    "spark-worker-1-ui": 8091,
    "spark-worker-2-ui": 8092,
    "spark-connect": 15002,
}
BUCKET = "lake"
LAKE_CONNECTION = "lake_s3"
SETTINGS = CHECKOUT / "docker"  # that docker-compose.yaml has, too


@attrs.frozen
class ClusterHome(Home):
    """The cluster's folder.

    :ivar ports: of each service that has one, all of this machine alone.
    """

    ports: dict[str, int] = attrs.field(factory=dict, kw_only=True)

    @classmethod
    def opened(cls, root: Path) -> ClusterHome:
        """The folder, made if it is not there, with the ports of the last start."""
        home = cls(root)
        home.create()
        ports = json.loads(home.ports_file.read_text()) if home.ports_file.exists() else PORTS
        return home.at(ports)

    def at(self, ports: dict[str, int]) -> ClusterHome:
        """The same with these ports."""
        user = f"airflow:{self.secret('postgres')}"
        database = f"postgresql+psycopg2://{user}@127.0.0.1:{ports['postgres']}/postgres"
        return attrs.evolve(self, ports=ports, database=database)

    def with_free_ports(self, port: int | None) -> ClusterHome:
        """The same with ports that nobody else has taken: those of the last start, where they are free.

        :param port: of the UI.
        """
        ports = {name: free_port(None, preferred) for name, preferred in self.ports.items()}
        if port is not None:
            ports["api-server"] = free_port(port, port)
        self.ports_file.write_text(json.dumps(ports))
        return self.at(ports)

    @property
    def ports_file(self) -> Path:
        """The ports of the last start."""
        return self.root / "ports.json"

    @property
    def postgres(self) -> Path:
        """The files of PostgreSQL."""
        return self.root / "postgres"

    @property
    def journal(self) -> Path:
        """All that was written to the S3 store."""
        return self.root / "s3.journal"

    @property
    def measures(self) -> Path:
        """What was taken for what was made."""
        return self.root / "measures.json"

    @property
    def spark(self) -> Path:
        """The settings of Spark, what its master has to remember, and the folders of its workers."""
        return self.root / "spark"

    @property
    def address(self) -> str:
        """Of the UI and the REST API."""
        return f"http://127.0.0.1:{self.ports['api-server']}"

    @property
    def endpoint(self) -> str:
        """Of the S3 store."""
        return f"http://127.0.0.1:{self.ports['s3']}"

    @property
    def master(self) -> str:
        """Spark's master."""
        return f"spark://127.0.0.1:{self.ports['spark-master']}"

    @property
    def lake_connection(self) -> dict[str, object]:
        """Airflow's connection to the S3 store."""
        return {
            "conn_type": "aws",
            "login": self.secret("s3-access"),
            "password": self.secret("s3"),
            "extra": {"endpoint_url": self.endpoint, "region_name": "us-east-1"},
        }

    def create(self) -> None:
        super().create()
        self.spark.mkdir(mode=0o700, exist_ok=True)

    def environment(self, outer: dict[str, str], port: int = 0) -> dict[str, str]:
        inherited = {name: value for name, value in outer.items() if not name.startswith("AWS")}
        demo = super().environment(inherited, self.ports["api-server"])
        del demo["AIRFLOW_CONN_LAKE"]
        return {
            **demo,
            **settings(),
            # Airflow reaches the lake by a connection, Spark by its environment.
            "AWS_ACCESS_KEY_ID": self.secret("s3-access"),
            "AWS_SECRET_ACCESS_KEY": self.secret("s3"),
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AIRFLOW__CORE__FERNET_KEY": self.secret("fernet") + "=",
            "AIRFLOW_PARTITIONS_LAKE": f"s3://{BUCKET}",
            "AIRFLOW_PARTITIONS_LAKE_CONNECTION": LAKE_CONNECTION,
            f"AIRFLOW_CONN_{LAKE_CONNECTION.upper()}": json.dumps(self.lake_connection),
            "PYTHONPATH": str(CHECKOUT),
            "SPARK_CONF_DIR": str(self.spark),
            "SPARK_SUBMIT_OPTS": JAVA_OPTIONS,
        }

    def configure_spark(self, jars: str) -> None:
        """Write Spark's settings: those of compose, then the hosts and secrets of this cluster.

        No master may run: what the last one has remembered of its applications is deleted.

        :param jars: a class path of what Spark needs for S3.
        """
        recovery = self.spark / "recovery"
        shutil.rmtree(recovery, ignore_errors=True)
        own = {
            "spark.authenticate.secret": self.secret("spark"),
            "spark.deploy.recoveryDirectory": str(recovery),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraClassPath": jars,
            "spark.executor.extraClassPath": jars,
            "spark.executor.extraJavaOptions": JAVA_OPTIONS,
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.pyspark.driver.python": sys.executable,
            "spark.pyspark.python": sys.executable,
        }
        file = self.spark / "spark-defaults.conf"
        file.touch(mode=0o600)
        common = (SETTINGS / "spark-defaults.conf").read_text()
        file.write_text(common + "".join(f"{name} {value}\n" for name, value in own.items()))


def settings() -> dict[str, str]:
    """Airflow's settings that compose has, too."""
    lines = (SETTINGS / "airflow.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
