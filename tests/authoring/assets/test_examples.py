"""The examples, as the Dag processor reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "dags"


@pytest.mark.parametrize(
    ("name", "tags"),
    [("aip", {"partitioned", "aip-76"}), ("flights.py", {"partitioned"}), ("flights_iceberg.py", {"partitioned"})],
)
def test_eu_the_examples_of_the_aip_can_be_told_from_others_by_a_tag(name: str, tags: set[str]) -> None:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(str(EXAMPLES / name))
    assert bag.import_errors == {}
    assert {dag_id: dag.tags for dag_id, dag in bag.dags.items()} == dict.fromkeys(bag.dags, tags)
    assert bag.dags
