"""Where the operations are over REST, and where Airflow's UI shows partitions."""

from __future__ import annotations

#: Of the app, in Airflow's API server.
URL_PREFIX = "/asset-partitions"
#: Of the routes of this version, within the app.
VERSION_PREFIX = "/api/v1"
#: Name of the view in the addresses of Airflow's UI.
VIEW = "partitions"
#: Of the page of a partition, in Airflow's UI.
PARTITION_PAGE = f"/plugin/{VIEW}/assets/{{asset}}/partitions/{{key}}"
