"""The page for Iceberg: its snippet for notebooks runs as it is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Iceberg
from tests.docs.pages import blocks


def test_the_snippet_for_notebooks_gives_the_rows(tmp_path: Path) -> None:
    (snippet,) = [block for block in blocks("python") if block.page == "iceberg.md" and "as_=" in block.text]
    days = PartitionByInterval("@daily", name="date", timezone="America/New_York", start="2024-01-01")
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"{tmp_path}/warehouse"}
    schema = {"date": "date", "zone": "string", "fare": "double"}
    storage = Iceberg("city.fares", catalog="lake", credentials=catalog, partition=days, schema=schema, create=True)
    fares = pd.DataFrame({"zone": ["Soho", "Chelsea"], "fare": [3.0, 4.0]})
    storage.save({"2024-03-09": fares, "2024-03-10": fares})
    namespace: dict[str, Any] = {}
    *statements, last = snippet.text.replace("/lake/", f"{tmp_path}/").strip().splitlines()
    exec("\n".join(statements[:-2]), namespace)
    assert [len(eval(line, namespace)) for line in statements[-2:]] == [2, 2]
    assert eval(last, namespace) == ["2024-03-09", "2024-03-10"]
