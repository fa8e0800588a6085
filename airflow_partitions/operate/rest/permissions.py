"""Who may read and change what: an asset has the rights of the Dags that make it.

Where others make it, those of the Dags that wait for it. Reading takes the right to read each of them; changing takes
the right to start runs of each.
"""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, NamedTuple

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.base_user import BaseUser
from airflow.api_fastapi.auth.managers.models.resource_details import DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import Depends, HTTPException, Path

from airflow_partitions.engine.graph.partitioned_assets import AssetDags, asset_dags, unknown_asset
from airflow_partitions.operate.requests.request_rows import read_dag_id
from airflow_partitions.operate.rest.text import PathText

if TYPE_CHECKING:
    from airflow.api_fastapi.auth.managers.base_auth_manager import ResourceMethod
    from airflow.api_fastapi.auth.managers.models.batch_apis import IsAuthorizedDagRequest

AssetName = Annotated[
    PathText, Path(description="Name of the asset; a slash in it is written %2F", examples=["hourly_flights"])
]


class _Right(NamedTuple):
    """What somebody may do with a Dag, in words and as Airflow has it."""

    verb: str
    method: ResourceMethod
    access_entity: DagAccessEntity | None = None


_READ, _START = _Right("read", "GET"), _Right("start runs of", "POST", DagAccessEntity.RUN)
_PAUSE = _Right("pause and unpause", "PUT")


def signed_in(user: GetUserDep) -> None:
    """Any *user* of Airflow."""


def readable_dags(user: GetUserDep) -> set[str]:
    """The ids of all Dags that the *user* may read."""
    return get_auth_manager().get_authorized_dag_ids(user=user, method="GET")


ReadableDags = Annotated[set[str], Depends(readable_dags)]


def readable_asset(asset: AssetName, user: GetUserDep) -> str:
    """The name of the *asset* of a route, which the *user* may read.

    :raises UnknownAssetError: if there is none; names only what the user may read.
    """
    check_reading([_dags_of(asset, user)], user)
    return asset


def changeable_asset(asset: AssetName, user: GetUserDep) -> str:
    """The name of the *asset* of a route, of whose Dags the *user* may start runs.

    :raises UnknownAssetError: if there is none; names only what the user may read.
    """
    dags = _dags_of(asset, user)
    _check(dags.owners, user, _READ, _START)
    return asset


Readable = Annotated[str, Depends(readable_asset)]
Changeable = Annotated[str, Depends(changeable_asset)]
RequestId = Annotated[int, Path(ge=1, le=2**31 - 1, description="Number of the request", examples=[7])]


def readable_request(request: RequestId, user: GetUserDep) -> int:
    """The number of the *request* of a route, whose Dag the *user* may read.

    :raises UnknownRequestError: if there is none.
    """
    _check([read_dag_id(request)], user, _READ)
    return request


def changeable_request(request: RequestId, user: GetUserDep) -> int:
    """The number of the *request* of a route, of whose Dag the *user* may start runs.

    :raises UnknownRequestError: if there is none.
    """
    _check([read_dag_id(request)], user, _READ, _START)
    return request


ReadableRequest = Annotated[int, Depends(readable_request)]
ChangeableRequest = Annotated[int, Depends(changeable_request)]


def check_reading(assets: Collection[AssetDags], user: BaseUser) -> None:
    """Refuse a *user* who may not read all these *assets*."""
    _check(sorted({dag_id for dags in assets for dag_id in dags.owners}), user, _READ)


def check_pausing(dag_ids: Collection[str], user: BaseUser) -> None:
    """Refuse a *user* who may not pause and unpause all these Dags."""
    _check(sorted(dag_ids), user, _PAUSE)


def startable(dag_ids: Collection[str], user: BaseUser) -> set[str]:
    """Those of some Dags of which the *user* may start runs."""
    return _authorized(dag_ids, user, "POST", DagAccessEntity.RUN)


def editable(dag_ids: Collection[str], user: BaseUser) -> set[str]:
    """Those of some Dags that the *user* may change, so that one may pause and unpause them."""
    return _authorized(dag_ids, user, "PUT")


def _authorized(
    dag_ids: Collection[str], user: BaseUser, method: ResourceMethod, access_entity: DagAccessEntity | None = None
) -> set[str]:
    from airflow.models.dag import DagModel

    if not dag_ids:
        return set()
    teams, manager = DagModel.get_dag_id_to_team_name_mapping(list(dag_ids)), get_auth_manager()
    return {
        dag_id
        for dag_id in dag_ids
        if manager.is_authorized_dag(
            method=method, access_entity=access_entity, details=DagDetails(dag_id, teams.get(dag_id)), user=user
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
