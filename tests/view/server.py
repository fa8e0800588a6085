"""Airflow's API server with the estate, for people and tests to look at: ``python -m tests.view.server``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

#: Who may sign in, with the name as password; and the role. The editor starts runs of one Dag.
USERS = {"admin": "admin", "viewer": "viewer", "editor": "user"}
SECRET = "of the tests, long enough for the hash that signs tokens, 64 bytes"


def settings(home: Path, address: str) -> dict[str, str]:
    """The environment of a server with its files in *home*."""
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__AUTH_MANAGER": "tests.view.auth_manager.EditorAuthManager",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{user}:{role}" for user, role in USERS.items()),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__API_AUTH__JWT_SECRET": SECRET,
        "AIRFLOW__API__BASE_URL": address,
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        "AIRFLOW__CORE__MIN_SERIALIZED_DAG_UPDATE_INTERVAL": "0",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
    }


def prepare(home: Path) -> None:
    """Make the database with the estate, unless it is there."""
    from airflow import settings as airflow_settings
    from airflow.models import import_all_models
    from airflow.models.base import Base

    from tests.metadata import Metadata, make_our_tables
    from tests.view.estate import fill

    if (home / "ready").exists():
        return
    (home / "dags").mkdir(parents=True, exist_ok=True)
    (home / "passwords.json").write_text(json.dumps({user: user for user in USERS}))
    import_all_models()
    Base.metadata.create_all(airflow_settings.engine)
    make_our_tables(airflow_settings.engine)
    fill(Metadata(airflow_settings.engine), home / "dags")
    (home / "ready").touch()


def serve(port: int) -> None:
    """Answer on *port* until it is ended."""
    import uvicorn
    from airflow.api_fastapi.app import create_app

    uvicorn.run(create_app("core"), host="127.0.0.1", port=port, log_level="warning")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.view.server", description=__doc__)
    parser.add_argument("--port", type=int, default=8299)
    parser.add_argument("--home", type=Path, help="where its files stay; by default they go with it")
    parser.add_argument("--base-path", default="", help="such as /team/airflow: where a proxy would put it")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = (chosen.home or Path(folder)).resolve()
        address = f"http://127.0.0.1:{chosen.port}{chosen.base_path}"
        os.environ.update(settings(home, address))
        prepare(home)
        names = ", ".join(USERS)
        sys.stdout.write(f"{address}/plugin/partitions: sign in as one of {names}; the password is the name\n")
        sys.stdout.flush()
        serve(chosen.port)


if __name__ == "__main__":
    main()
