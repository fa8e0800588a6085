"""The examples of the page on checks do what it says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from airflow_partitions.core.errors import CheckError
from tests.docs.pages import blocks

if TYPE_CHECKING:
    from airflow_partitions.authoring.local import Trial

DEPARTED = datetime(2024, 3, 10, 9, tzinfo=UTC)
RIDES = {"departed": DEPARTED, "arrived": DEPARTED, "zone": "bronx", "cancelled": False}


def test_the_examples_of_the_page_run(partition_trial: Callable[..., Trial], tmp_path: Path) -> None:
    page = [block for block in blocks("python") if block.page == "checks.md"]
    (dag_file,) = (block.text for block in page if block.file)
    names: dict[str, Any] = {"__name__": "page"}
    exec(dag_file.replace("/lake", str(tmp_path)), names)
    rides = pl.LazyFrame([{"ride": number, **RIDES} for number in range(3)])
    trial = partition_trial(names["clean_rides"], "2024-03-10", inputs={"rides": rides})
    assert [check.passed for check in trial.checks] == [True] * 6
    (of_a_user,) = (block.text for block in page if "def test_a_ride_is_there_once" in block.text)
    exec(of_a_user, names)
    names["test_a_ride_is_there_once"](partition_trial)
    (own,) = (block.text for block in page if "class FewNulls" in block.text)
    exec(own, names)
    few_nulls = names["FewNulls"]()

    def tips() -> pl.DataFrame:
        return pl.DataFrame({"tip": [1.0, None, None]})

    tips.__qualname__ = tips.__name__
    asset = names["asset"](
        schedule=None, partition=names["DAYS"], storage=names["Parquet"](f"{tmp_path}/tips"), checks=[few_nulls]
    )
    with pytest.raises(CheckError, match="few nulls in tip: 2 nulls; expected less than half"):
        partition_trial(asset(tips), "2024-03-10")
