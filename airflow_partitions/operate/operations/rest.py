"""Where each operation is over REST, and where Airflow's UI shows partitions."""

from __future__ import annotations

from collections.abc import Mapping

#: Of the app, in Airflow's API server.
URL_PREFIX = "/asset-partitions"
#: Of the routes of this version, within the app.
VERSION_PREFIX = "/api/v1"
#: Name of the view in the addresses of Airflow's UI.
VIEW = "partitions"
#: Of the page of a partition, in Airflow's UI.
PARTITION_PAGE = f"/plugin/{VIEW}/assets/{{asset}}/partitions/{{key}}"
#: Method and path by the name of the function.
ROUTES: Mapping[str, str] = {
    "list_assets": "GET /assets",
    "show_asset": "GET /assets/{asset}",
    "list_keys": "GET /assets/{asset}/keys",
    "list_states": "GET /assets/{asset}/states",
    "count_states": "GET /assets/{asset}/counts",
    "show_grid": "GET /assets/{asset}/grid",
    "show_partition": "GET /assets/{asset}/partitions/{key}",
    "list_materializations": "GET /assets/{asset}/materializations",
    "plan_partitions": "GET /assets/{asset}/plan",
    "materialize_partitions": "POST /assets/{asset}/requests",
    "list_requests": "GET /requests",
    "show_request": "GET /requests/{request}",
    "pause_request": "POST /requests/{request}/pause",
    "resume_request": "POST /requests/{request}/resume",
    "cancel_request": "POST /requests/{request}/cancel",
    "retry_request": "POST /requests/{request}/retry",
    "list_orphans": "GET /assets/{asset}/orphans",
    "list_late": "GET /assets/{asset}/late",
    "mark": "POST /assets/{asset}/mark",
    "forget": "POST /assets/{asset}/forget",
    "remember": "POST /assets/{asset}/remember",
    "adopt": "POST /assets/{asset}/adopt",
    "add_keys": "POST /assets/{asset}/keys/add",
    "remove_keys": "POST /assets/{asset}/keys/remove",
    "reconcile": "POST /assets/{asset}/reconcile",
    "list_problems": "GET /doctor",
    "show_upkeep": "GET /upkeep",
}
