"""What keeps tasks from working though all is right with their Dags: addresses, connections, folders and the like."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import func, select

from airflow_partitions.engine.database.connection import open_connection, open_session, portions
from airflow_partitions.engine.graph.serialized_dags import SerializedDags
from airflow_partitions.engine.runs.task_rows import is_live
from airflow_partitions.operate.operations.problem import Problem, Remedy
from airflow_partitions.storage.iceberg.default_catalog import DEFAULT_CATALOG

_LOCAL = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 - names of this machine, to compare with
_SHOWN = 3


def wrong_address() -> Iterator[Problem]:
    """The address by which tasks reach the API server, if it is on this machine and not the port of that."""
    from airflow.executors.base_executor import get_execution_api_server_url
    from airflow.sdk.configuration import conf

    url, port = get_execution_api_server_url(), conf.getint("api", "port", fallback=8080)
    parts = urlsplit(url)
    asked = parts.port or (443 if parts.scheme == "https" else 80)
    if parts.hostname in _LOCAL and asked != port:
        right = f"{parts.scheme}://{parts.hostname}:{port}/execution/"
        yield Problem(
            kind="api-address",
            text=f"tasks ask for their work at {url}, but [api] port is {port}: if nothing forwards the one to the"
            " other, each task fails at once, with 'Invalid auth token' where another Airflow listens there; set"
            f" [core] execution_api_server_url, and restart the scheduler: export"
            f" AIRFLOW__CORE__EXECUTION_API_SERVER_URL={right}",
            remedy=Remedy("command", command=f"export AIRFLOW__CORE__EXECUTION_API_SERVER_URL={right}"),
        )


def missing_connections(dags: SerializedDags) -> Iterator[Problem]:
    """The connections that storages or tasks name, and that nobody has made."""
    from airflow.models.connection import Connection
    from airflow.sdk.exceptions import AirflowNotFoundException

    named: dict[str, list[tuple[str, str | None, str | None]]] = {}
    catalogs: set[str] = set()
    for name, form in dags.storages.items():
        if (conn_id := form.get("conn_id") or form.get("catalog")) is not None:
            named.setdefault(str(conn_id), []).append((f"the storage of asset {name!r}", None, name))
            if conn_id == form.get("catalog"):
                catalogs.add(str(conn_id))
    for conn_id, dag_ids in dags.connections.items():
        if not conn_id.endswith("_default"):  # operators name these whether they need them or not
            named.setdefault(conn_id, []).extend((f"Dag {dag_id!r}", dag_id, None) for dag_id in dag_ids)
    for conn_id, users in sorted(named.items()):
        words = [words for words, _, _ in users]
        more = f" and {len(words) - _SHOWN} others" if len(words) > _SHOWN else ""
        try:
            Connection.get_connection_from_secrets(conn_id)
        except AirflowNotFoundException:
            command = f"airflow connections add {conn_id} --conn-type TYPE"
            if conn_id in catalogs:
                command = f"airflow connections add {conn_id} --conn-type iceberg --conn-host https://CATALOG"
            default = f" (where Iceberg(…) says no catalog=, it is {conn_id})" if conn_id == DEFAULT_CATALOG else ""
            yield Problem(
                kind="connection",
                text=f"there is no connection {conn_id!r}{default} here, which {', '.join(words[:_SHOWN])}{more} names;"
                f" make it: {command} …, or set AIRFLOW_CONN_{conn_id.upper()} where tasks run",
                dag_id=users[0][1],
                asset=users[0][2],
                remedy=Remedy("command", command=command),
            )
        except Exception as error:  # noqa: BLE001 - whatever a backend of secrets raises for one of them
            yield Problem(
                kind="connection",
                text=f"the connection {conn_id!r}, which {', '.join(words[:_SHOWN])}{more} names, can't be read here:"
                f" {type(error).__name__}: {error}; see: airflow connections get {conn_id}",
                dag_id=users[0][1],
                asset=users[0][2],
            )


def missing_folders(dags: SerializedDags) -> Iterator[Problem]:
    """The storages on a local disk whose parent folder is not there, on this machine."""
    for name, path in sorted(dags.paths.items()):
        try:
            parts = urlsplit(path)
            if parts.scheme not in ("", "file") or not parts.path.startswith("/"):
                continue
            parent = Path(parts.path).parent
            is_there = parent.is_dir()
        except (OSError, ValueError) as error:
            yield Problem(
                kind="folder",
                text=f"the storage of asset {name!r} is {path}, which can't be looked at on this machine: {error}; mend"
                " its path in the Dag file, or the rights of its folders",
                asset=name,
            )
            continue
        if not is_there:
            command = f"mkdir -p {parent}"
            yield Problem(
                kind="folder",
                text=f"the storage of asset {name!r} is {path}, and its parent folder is not there on this machine:"
                f" the first write fails; make it, or mount it: {command}",
                asset=name,
                remedy=Remedy("command", command=command),
            )


def missing_packages(dags: SerializedDags) -> Iterator[Problem]:
    """The packages that the file systems of storages need, and that are not installed on this machine."""
    from fsspec import get_filesystem_class

    found: dict[str, str | None] = {}
    for name, path in sorted(dags.paths.items()):
        if "://" not in path:
            continue
        protocol = path.partition("://")[0]
        if protocol not in found:
            try:
                get_filesystem_class(protocol)
                found[protocol] = None
            except ValueError:  # the catalog of a table, and no file system
                found[protocol] = None
            except Exception as error:  # noqa: BLE001 - one that is there, and broken, raises what it likes
                found[protocol] = str(error) or type(error).__name__
        if (reason := found[protocol]) is not None:
            yield Problem(
                kind="package",
                text=f"the storage of asset {name!r} is {path}, and nothing on this machine can read {protocol}://"
                f" ({reason}); install it where tasks run and in the API server",
                asset=name,
            )


def full_pools(dag_ids: Collection[str]) -> Iterator[Problem]:
    """The pools without an open slot for which tasks of some Dags wait."""
    from airflow.models.pool import Pool
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import TaskInstanceState

    waiting: dict[str, int] = {}
    with open_connection() as connection:
        for portion in portions(sorted(dag_ids)):
            query = (
                select(TaskInstance.pool, func.count())
                .where(
                    TaskInstance.dag_id.in_(portion),
                    TaskInstance.state == TaskInstanceState.SCHEDULED,
                    is_live(TaskInstance),
                )
                .group_by(TaskInstance.pool)
            )
            for pool, number in connection.execute(query):
                waiting[pool] = waiting.get(pool, 0) + number
    if not waiting:
        return
    with open_session() as session:
        pools: Mapping[str, Any] = Pool.slots_stats(session=session)
    for pool, number in sorted(waiting.items()):
        stats = pools.get(pool)
        if stats is not None and stats["open"] > 0:
            continue
        one = number == 1
        what = "is not there" if stats is None else f"has {stats['total']} slots, all of them taken"
        command = f"airflow pools set {pool} SLOTS DESCRIPTION"
        yield Problem(
            kind="no-slots",
            text=f"{number:,} task{'' if one else 's'} wait{'s' if one else ''} for a slot of pool {pool!r}, which"
            f" {what}; let others end, or give it more: {command}",
            remedy=Remedy("command", command=command),
        )
