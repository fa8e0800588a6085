"""The two ways in which the same Dags run Spark: Airflow's connection says which."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from demo.api import Api
from demo.errors import DemoError
from demo.home import Home
from demo.processes import tail

CONNECTION = "spark_default"  # what the Dags name by naming nothing
#: A driver for each job, by spark-submit.
COLD = {"conn_type": "spark", "host": "local[2]"}
PATIENCE = 300.0  # seconds until the server has answered a first query


def choose(api: Api, connection: Mapping[str, Any]) -> None:
    """Let Airflow run Spark by *connection* from now on."""
    body = {"connection_id": CONNECTION, **connection}
    if api.get(f"connections/{CONNECTION}"):
        rest = dict.fromkeys(("host", "port", "extra", "password", "schema", "login"))
        api.patch(f"connections/{CONNECTION}", rest | body)
    else:
        api.post("connections", body)


def warm(home: Home, check: Callable[[], object]) -> dict[str, Any]:
    """The connection to the home's Spark Connect server, once that is ready.

    :param check: raises if there is no sense in waiting on.
    """
    log, deadline = home.log("spark-server"), time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        check()
        for line in log.read_text(errors="replace").splitlines():
            if line.startswith('{"host"'):  # said when it is ready
                about = json.loads(line)
                token = Path(about["token_file"]).read_text().strip()
                return {**about["connection"], "password": token}
        time.sleep(0.5)
    raise DemoError(f"the Spark Connect server has not answered; the end of {log}:\n{tail(log)}")
