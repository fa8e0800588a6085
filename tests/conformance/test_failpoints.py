"""Publishers of an S3 store that die before or after any request that changes something."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from aiobotocore.client import AioBaseClient

from tests.hunt import HUNT
from tests.storage.commit import dying
from tests.storage.commit.publisher import KILLED, Reader, survive

#: How the names of S3's requests begin that change something.
CHANGES = ("Put", "Delete", "Copy", "Create", "Upload", "Complete", "Abort")
#: By this the requests of the publisher are told from those of readers.
KEY = "publisher"


class DeadError(Exception):
    """What a dead publisher's requests meet."""


class Publisher:
    """One of whose requests none gets through any more from a chosen moment on: to the store it is dead."""

    def __init__(self, root: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.files = attrs.evolve(dying.dataset(root), credentials={"key": KEY, "secret": KEY})
        self.failpoint = self.count = 0
        self._request = AioBaseClient._make_api_call
        publisher = self

        async def requested(client: Any, operation: str, arguments: Any) -> Any:
            return await publisher.request(client, operation, arguments)

        monkeypatch.setattr(AioBaseClient, "_make_api_call", requested)

    @property
    def dead(self) -> bool:
        return 0 < self.failpoint <= self.count

    async def request(self, client: Any, operation: str, arguments: Any) -> Any:
        if client._request_signer._credentials.access_key != KEY:
            return await self._request(client, operation, arguments)
        changes = operation.startswith(CHANGES)
        self.count += changes
        if self.dead:
            raise DeadError
        answer = await self._request(client, operation, arguments)
        self.count += changes
        if self.dead:  # the store has done it, and nobody here knows
            raise DeadError
        return answer

    def run(self, scenario: str, generation: int, failpoint: int) -> int:
        self.failpoint, self.count = failpoint, 0
        try:
            dying.SCENARIOS[scenario](self.files, generation)
        except DeadError:
            return KILLED
        return KILLED if self.dead else 0

    def end(self) -> None:
        assert not self.dead


@pytest.fixture
def readers() -> Iterator[list[Reader]]:
    threads: list[Reader] = []
    yield threads
    for one in threads:
        one.stop.set()
        one.join()


#: Every second failpoint only, unless the tests are to look far.
LEAP = 1 if HUNT > 1 else 2


@pytest.mark.parametrize(("scenario", "step"), [("single", LEAP), ("several", 3 * LEAP)])
def test_failpoints_of_s3(
    server: Any, readers: list[Reader], monkeypatch: pytest.MonkeyPatch, scenario: str, step: int
) -> None:
    dying.checkpoint_often(monkeypatch.setattr)
    root = f"s3://lake/{uuid.uuid4().hex}"
    killed = survive(root, scenario, Publisher(root, monkeypatch), readers, step=step)
    assert killed >= 10 // LEAP, killed
