"""Which ledgers are behind their events, by the rows of all assets."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import delete, insert, update

from airflow_partitions import KeyFormat, PartitionByInterval
from airflow_partitions.core.definitions import WholeAsset
from airflow_partitions.engine.database.models import Asset
from airflow_partitions.operate.upkeep.behind import read_positions
from tests.metadata import Metadata

pytestmark = pytest.mark.airflow

HOURS = PartitionByInterval("@hourly")
MEANINGS: dict[str, Any] = {"ours": HOURS, "theirs": KeyFormat(HOURS), "whole": WholeAsset(), "empty": HOURS}


def behind() -> list[str]:
    return list(read_positions().ledgers_behind(MEANINGS))


def test_a_ledger_is_behind_that_lacks_an_event_or_was_read_by_another_meaning(metadata: Metadata) -> None:
    from airflow.models.asset import AssetActive

    for name in MEANINGS:
        metadata.asset(name)
    for name in ("ours", "theirs", "whole"):
        metadata.emit(name, None if name == "whole" else "2013-01-01T00:00Z")
    assert behind() == list(MEANINGS)
    newest = {**read_positions().newest, "whole": read_positions().unkeyed["whole"]}
    with metadata.engine.begin() as at:
        for name, meaning in MEANINGS.items():
            form = {"key_format" if isinstance(meaning, KeyFormat) else "definition": meaning.to_json()}
            values = {"name": name, "uri": name, "meaning": form, "event": newest[name]}
            at.execute(insert(Asset).values(id=metadata.asset(name), **values))
    assert behind() == []
    metadata.emit("whole", "2013-01-01T00:00Z")  # none of its events
    assert behind() == []
    metadata.emit("ours", "2013-01-01T01:00Z")
    with metadata.engine.begin() as at:
        other = {"definition": PartitionByInterval("@daily").to_json()}
        at.execute(update(Asset).where(Asset.name == "empty").values(meaning=other))
    assert behind() == ["ours", "empty"]
    with metadata.engine.begin() as at:
        at.execute(delete(AssetActive).where(AssetActive.name == "ours"))
    assert behind() == ["empty"]
