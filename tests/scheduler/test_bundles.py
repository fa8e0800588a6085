"""Producer and consumer in Dag bundles of their own, each parsed without the other."""

from __future__ import annotations

import pytest

from tests.scheduler.conftest import Airflow
from tests.scheduler.test_dependencies import emit

pytestmark = pytest.mark.airflow


def test_a_consumer_in_another_bundle_finds_what_partitions_its_upstream_has(airflow: Airflow) -> None:
    airflow.write(
        "wells",
        """
        @asset(schedule=None, partition=PartitionByInterval("0 */12 * * *", timezone="America/New_York"))
        def wells(): ...
        """,
    )
    airflow.write(
        "well_days",
        """
        DAYS = PartitionByInterval("@daily", timezone="America/New_York")

        @asset(schedule=Asset.ref(name="wells"), partition=DAYS)
        def well_days(): ...
        """,
        folder="other",
    )
    bundles = dict(airflow.sql("select dag_id, bundle_name from dag where dag_id in ('wells', 'well_days')"))
    assert bundles == {"wells": "dags-folder", "well_days": "other"}
    emit(airflow, "wells", "2013-03-10T00:00-05:00", "2013-03-10T12:00-04:00")
    assert airflow.wait_finished("well_days", 1)[0][:2] == ("2013-03-10", "success")
