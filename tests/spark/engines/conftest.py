"""A platform for a test: each of those that have a stand-in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from botocore import session

from tests.spark.engines.platforms import PLATFORMS

_sleep = time.sleep
#: Airflow's operators look at a job every second at the most: a test has no time for that.
_LONGEST = 0.02


@pytest.fixture(scope="session", autouse=True)
def descriptions() -> Iterator[None]:
    """What botocore has of AWS's services is read once: each client of each test would read it for half a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "create_loader", cache(session.create_loader))
        yield


@pytest.fixture(scope="session", autouse=True)
def caller() -> Iterator[None]:
    """Airflow's hook tells AWS who calls it, and looks at the sources of the whole stack for that, for each client."""
    from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AwsGenericHook, "_get_caller", lambda *_: "SparkAssetOperator")
        yield


@pytest.fixture(params=PLATFORMS)
def platform(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A stand-in, which the default connection for it names."""
    stand_in = PLATFORMS[request.param](tmp_path_factory.mktemp("platform"))
    with stand_in.serving() as url, pytest.MonkeyPatch.context() as patch:
        stand_in.connect(url, patch)  # type: ignore[attr-defined]
        patch.setattr(time, "sleep", lambda seconds: _sleep(min(seconds, _LONGEST)))
        yield stand_in


@pytest.fixture
def mounted(lake: Any) -> dict[str, tuple[str]]:
    """What an engine is told whose machines have the disk of the lake."""
    root: Path = lake.root
    return {"mounts": (str(root),)}
