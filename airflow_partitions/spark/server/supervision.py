"""A server that is started again when it dies."""

from __future__ import annotations

import time
from collections.abc import Callable

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.spark.server.connect_server import ConnectServer

_LOOK = 0.5  # seconds
#: Between two starts that failed, longer each time.
_LONGEST_PAUSE = 60.0


def supervise(server: ConnectServer, ready: Callable[[ConnectServer], object], say: Callable[[str], object]) -> None:
    """Keep *server* running until this process is asked to end, which ends it, too.

    :param ready: is called whenever it answers.
    :param say: is told what happens to it.
    :raises PartitionError: if the first start fails.
    """
    with server:
        while True:
            ready(server)
            while server.returncode is None:
                time.sleep(_LOOK)
            say(f"the server ended with status {server.returncode}; starting it again")
            _start_again(server, say)


def _start_again(server: ConnectServer, say: Callable[[str], object]) -> None:
    pause = 1.0
    while True:
        try:
            return server.start()
        except PartitionError as error:
            say(f"{error}; trying again in {pause:.0f} s")
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
