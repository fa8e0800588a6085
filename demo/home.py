"""Where the demo keeps everything it makes: one folder, private to its owner."""

from __future__ import annotations

import json
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path

import attrs

from demo.errors import DemoError

CHECKOUT = Path(__file__).resolve().parents[1]
USER = "admin"
TASKS = 2  # at a time
JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # for short jobs: a third less processor time


def _resolved(root: Path) -> Path:
    return root.resolve()


@attrs.frozen
class Home:
    """The demo's folder and what is where in it.

    :ivar database: URL of Airflow's database; a SQLite file in the folder if not given.
    """

    root: Path = attrs.field(converter=_resolved)
    database: str = attrs.field(
        default=attrs.Factory(lambda home: f"sqlite:///{home.root / 'airflow' / 'airflow.db'}", takes_self=True),
        repr=False,
    )

    @property
    def lake(self) -> Path:
        """Landing zone and published partitions."""
        return self.root / "lake"

    @property
    def tables(self) -> Path:
        """The tables of Iceberg, their catalog, and a landing zone of their own."""
        return self.lake / "tables"

    @property
    def catalog(self) -> dict[str, str]:
        """pyiceberg's properties of the catalog: a SQLite file."""
        return {
            "type": "sql",
            "uri": f"sqlite:///{self.tables / 'catalog.db'}?timeout=60",
            "warehouse": f"file://{self.tables / 'warehouse'}",
        }

    @property
    def logs(self) -> Path:
        """One file per service, and the folder ``tasks``."""
        return self.root / "logs"

    def log(self, name: str) -> Path:
        """The log of the service *name*."""
        return self.logs / f"{name}.log"

    @property
    def processes(self) -> Path:
        """The services that were started: ids and start times."""
        return self.root / "processes.json"

    @property
    def classes(self) -> Path:
        """Java's archive of Spark's loaded classes."""
        return self.root / "classes.jsa"

    @property
    def password(self) -> Path:
        """The file with the password of the UI and the REST API."""
        return self.root / "secrets" / "password"

    @property
    def passwords(self) -> Path:
        """The same for Airflow."""
        return self.root / "secrets" / "passwords.json"

    @property
    def dags(self) -> Path:
        """Links to those of the checkout's Dags that Airflow is to load."""
        return self.root / "dags"

    def create(self) -> None:
        """Make the folders; nobody else may look into them."""
        inner = (self.root / "airflow", self.root / "secrets", self.logs, self.lake, self.tables, self.dags)
        for folder in (self.root, *inner):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings = self.root / "airflow" / "config" / "airflow_local_settings.py"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text("import airflow_partitions.spark.connect.preload\n")

    def link(self, *names: str) -> None:
        """Let Airflow load these files or folders of the checkout's ``dags``, beside those linked before."""
        for name in names:
            source, link = CHECKOUT / "dags" / name, self.dags / name
            if not source.exists():
                raise DemoError(f"no dags/{name} in {CHECKOUT}: the demo runs from a checkout of the repository")
            if link.resolve() != source:  # also where the checkout has moved
                link.unlink(missing_ok=True)
                link.symlink_to(source)

    def secret(self, name: str) -> str:
        """The secret of that name; made when it is asked for first."""
        file = self.root / "secrets" / name
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(32))
        return file.read_text()

    def write_password(self) -> None:
        """Let Airflow find the password, in the form that it reads."""
        self.passwords.touch(mode=0o600)
        self.passwords.write_text(json.dumps({USER: self.secret("password")}))

    def environment(self, outer: dict[str, str], port: int = 0) -> dict[str, str]:
        """The environment of Airflow's services and of the Spark jobs they start; other Airflows' settings left out."""
        inherited = {
            name: value for name, value in outer.items() if not name.startswith(("AIRFLOW", "SPARK", "PYSPARK"))
        }
        loopback = ",".join(filter(None, [outer.get("NO_PROXY", outer.get("no_proxy")), "127.0.0.1", "localhost"]))
        return {
            **inherited,
            **{f"AIRFLOW__{name}": value for name, value in self._airflow(port).items()},
            **self._spark(),
            "PATH": f"{Path(sys.executable).parent}:{outer.get('PATH', '')}",
            "NO_PROXY": loopback,
            "no_proxy": loopback,
            "AIRFLOW_HOME": str(self.root / "airflow"),
            "AIRFLOW_PARTITIONS_LAKE": str(self.lake),
            "AIRFLOW_CONN_LAKE": json.dumps({"conn_type": "iceberg", "extra": self.catalog}),
        }

    def _airflow(self, port: int) -> dict[str, str]:
        return {
            "API__BASE_URL": f"http://127.0.0.1:{port}",
            "API__HOST": "127.0.0.1",
            "API__SECRET_KEY": self.secret("api"),
            "API_AUTH__JWT_SECRET": self.secret("jwt"),
            "CORE__DAGS_FOLDER": str(self.dags),
            "CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
            "CORE__EXECUTOR": "LocalExecutor",
            "CORE__LOAD_EXAMPLES": "False",
            "CORE__PARALLELISM": str(TASKS),  # SQLite locks, and a Spark job takes a core
            "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(self.passwords),
            "CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
            "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "300",  # parsing takes time from the jobs
            "DAG_PROCESSOR__PARSING_PROCESSES": "1",
            "DAG_PROCESSOR__REFRESH_INTERVAL": "30",
            "DATABASE__SQL_ALCHEMY_CONN": self.database,
            "LOGGING__BASE_LOG_FOLDER": str(self.logs / "tasks"),
            # What a stop has cut off is found soon after the next start.
            "SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "60",
            "SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "120",
            # The local executor takes more tasks than it runs at a time; a task that waits longer there is refused.
            "SCHEDULER__TASK_QUEUED_TIMEOUT": "86400",
            "USAGE_DATA_COLLECTION__ENABLED": "False",
        }

    def _spark(self) -> dict[str, str]:
        spec = find_spec("pyspark")
        if spec is None or spec.origin is None:
            raise DemoError(
                "pyspark is not installed; expected the environment that `make demo` makes from requirements.lock"
            )
        return {
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_HOME": str(Path(spec.origin).parent),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_SUBMIT_OPTS": f'{JAVA_OPTIONS} "-XX:SharedArchiveFile={self.classes}"',
        }
