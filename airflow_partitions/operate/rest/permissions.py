"""Who may read and change what: an asset has the rights of the Dags that make it.

Where others make it, those of the Dags that wait for it. Reading takes the right to read each of them; changing takes
the right to start runs of each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import HTTPException

from airflow_partitions.engine.graph.partitioned_assets import AssetDags, asset_dags, unknown_asset
from airflow_partitions.operate.requests.request_rows import read_dag_id

if TYPE_CHECKING:
    from airflow.api_fastapi.auth.managers.base_auth_manager import ResourceMethod
    from airflow.api_fastapi.auth.managers.models.batch_apis import IsAuthorizedDagRequest


class _Right(NamedTuple):
    """What somebody may do with a Dag, in words and as Airflow has it."""

    verb: str
    method: ResourceMethod
    access_entity: DagAccessEntity | None = None


_READ, _START = _Right("read", "GET"), _Right("start runs of", "POST", DagAccessEntity.RUN)
_PAUSE = _Right("pause and unpause", "PUT")


def signed_in(user: GetUserDep) -> None:
    """Any *user* of Airflow."""


def readable_dags(user: BaseUser) -> set[str]:
    """The ids of all Dags that the *user* may read."""
    return get_auth_manager().get_authorized_dag_ids(user=user, method="GET")


def startable(dag_ids: Collection[str], user: BaseUser) -> set[str]:
    """Those of some Dags of which the *user* may start runs."""
    return _authorized(dag_ids, user, _START)


def editable(dag_ids: Collection[str], user: BaseUser) -> set[str]:
    """Those of some Dags that the *user* may change, so that one may pause and unpause them."""
    return _authorized(dag_ids, user, _PAUSE)


def check_readable_asset(asset: str, user: BaseUser) -> None:
    """Refuse a *user* who may not read an *asset*.

    :raises UnknownAssetError: if there is none; names only what the user may read.
    """
    _check(_dags_of(asset, user).owners, user, _READ)


def check_changeable_asset(asset: str, user: BaseUser) -> None:
    """Refuse a *user* who may not start runs of the Dags of an *asset*; errors as for reading."""
    _check(_dags_of(asset, user).owners, user, _READ, _START)


def check_readable_request(request: int, user: BaseUser) -> None:
    """Refuse a *user* who may not read the Dag of the *request* of that number.

    :raises UnknownRequestError: if there is none.
    """
    _check([read_dag_id(request)], user, _READ)


def check_changeable_request(request: int, user: BaseUser) -> None:
    """Refuse a *user* who may not start runs of the Dag of a *request*; errors as for reading."""
    _check([read_dag_id(request)], user, _READ, _START)


def check_pausing(dag_ids: Collection[str], user: BaseUser) -> None:
    """Refuse a *user* who may not pause and unpause all these Dags."""
    _check(sorted(dag_ids), user, _PAUSE)


#: By the method of a route and what is named in its path: what refuses a user who may not do that.
CHECKS: Mapping[tuple[str, str], Callable[[Any, BaseUser], None]] = {
    ("GET", "asset"): check_readable_asset,
    ("POST", "asset"): check_changeable_asset,
    ("GET", "request"): check_readable_request,
    ("POST", "request"): check_changeable_request,
}


def _authorized(dag_ids: Collection[str], user: BaseUser, right: _Right) -> set[str]:
    from airflow.models.dag import DagModel

    if not dag_ids:
        return set()
    teams, manager = DagModel.get_dag_id_to_team_name_mapping(list(dag_ids)), get_auth_manager()
    return {
        dag_id
        for dag_id in dag_ids
        if manager.is_authorized_dag(
            method=right.method,
            access_entity=right.access_entity,
            details=DagDetails(dag_id, teams.get(dag_id)),
            user=user,
        )
    }


def _dags_of(asset: str, user: BaseUser) -> AssetDags:
    dags = asset_dags(asset).get(asset)
    if dags is not None:
        return dags
    readable = readable_dags(user)
    seen = {name: each for name, each in asset_dags().items() if each.owned_by(readable)}
    raise unknown_asset(asset, seen)


def _check(dag_ids: Collection[str], user: BaseUser, *rights: _Right) -> None:
    from airflow.models.dag import DagModel

    teams = DagModel.get_dag_id_to_team_name_mapping(list(dag_ids))
    for right in rights:
        requests: list[IsAuthorizedDagRequest] = [
            {
                "method": right.method,
                "access_entity": right.access_entity,
                "details": DagDetails(dag_id, teams.get(dag_id)),
            }
            for dag_id in dag_ids
        ]
        if not get_auth_manager().batch_is_authorized_dag(requests, user=user):
            raise HTTPException(HTTPStatus.FORBIDDEN, f"You may not {right.verb} each of the Dags that this is about")
