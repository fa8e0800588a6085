"""Where Airflow's UI shows the view."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

#: The folder of what a browser loads.
BUNDLES = Path(__file__).parent / "dist"
#: Where that is served, within the app of the REST API.
BUNDLES_PREFIX = "/view"
#: Name of the view on Airflow's pages; all places have one name, and so one component.
NAME = "Partitions"
#: The first Airflow that has a place for plugins on its pages of assets, and shows that of a Dag where it says.
NEW_PLACES = (3, 4)
#: Of Airflow's answer about a Dag: the field that says whether it has partitions, with the text of its value.
OF_PARTITIONED_DAGS = {"timetable_partitioned": ["true"]}


def react_apps(prefix: str, airflow: str) -> list[dict[str, Any]]:
    """The view as a page of its own, as a tab on the page of each Dag, and of each asset where Airflow has that.

    From then on Airflow shows the tab of a Dag only where that has partitions; of an asset its answer does not say so.

    :param prefix: of the app that serves the bundle, relative to Airflow's own address.
    :param airflow: version of the Airflow that shows it.
    """
    bundle = BUNDLES / "partitions.umd.js"
    digest = sha256(bundle.read_bytes()).hexdigest()[:12]  # a browser asks again when it is another
    place = f"{prefix.lstrip('/')}{BUNDLES_PREFIX}"
    app: dict[str, Any] = {
        "name": NAME,
        "bundle_url": f"{place}/{bundle.name}?{digest}",
        "icon": f"{place}/icon.svg",
        "icon_dark_mode": f"{place}/icon-dark.svg",
    }
    apps = [
        app | {"destination": "nav", "nav_top_level": True, "url_route": "partitions"},
        app | {"destination": "dag", "url_route": "partitions-of-dag"},
    ]
    if tuple(map(int, airflow.split(".")[:2])) >= NEW_PLACES:
        apps[-1]["applies_to"] = OF_PARTITIONED_DAGS
        apps.append(app | {"destination": "asset", "url_route": "partitions-of-asset"})
    return apps
