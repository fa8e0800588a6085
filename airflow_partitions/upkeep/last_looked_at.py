"""The last event of an upstream that was looked at for a consumer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import attrs

from airflow_partitions.versions import check_version, read_number

#: The start of the name of its cell in the upstream's state store; the id of the Dag follows.
CONSUMER = "consumer/"
_VERSION = 1


@attrs.frozen
class LastLookedAt:
    """The last event of an upstream that was looked at for a consumer.

    :ivar digest: of what the consumer waited for then.
    :ivar event: id of the event.
    """

    digest: str
    event: int

    @classmethod
    def of(cls, prints: Mapping[str, Any], event: int) -> LastLookedAt:
        """For a consumer that waits for what *prints* say."""
        return cls(_digest(prints), event)

    def is_of(self, prints: Mapping[str, Any]) -> bool:
        """Whether the consumer waits for what *prints* say still."""
        return self.digest == _digest(prints)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"version": _VERSION, "fingerprint": self.digest, "event": self.event}

    @classmethod
    def from_json(cls, form: Any) -> LastLookedAt:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "the last event that a consumer has looked at")
        return cls(form["fingerprint"], read_number(form["event"]))


def _digest(prints: Mapping[str, Any]) -> str:
    return blake2b(json.dumps(prints, sort_keys=True).encode(), digest_size=8).hexdigest()
