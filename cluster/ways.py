"""The two ways to run the same Dags: by a connection to Spark's master, or to a server that runs already."""

from __future__ import annotations

from typing import Any

from cluster.home import ClusterHome
from demo import ways
from demo.api import Api


def connection(home: ClusterHome, way: str) -> dict[str, Any]:
    """Airflow's connection of Spark."""
    if way == "cold":
        return {"conn_type": "spark", "host": "spark://127.0.0.1", "port": home.ports["spark-master"]}
    return {
        "conn_type": "spark_connect",
        "host": "sc://localhost",
        "port": home.ports["spark-connect"],
        "password": home.secret("connect"),
    }


def choose(api: Api, home: ClusterHome, way: str) -> None:
    """Let Airflow run Spark that way from now on."""
    ways.choose(api, connection(home, way))
