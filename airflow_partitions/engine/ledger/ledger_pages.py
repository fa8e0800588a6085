"""Pages of the ledger: a month of it in one cell, for tasks, which read the state store one cell at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import instant, utc
from airflow_partitions.core.definitions import PartitionDefinition, from_json
from airflow_partitions.core.dependencies import KeyFormat, Selection
from airflow_partitions.core.versions import Report, check_version, read_number, read_time
from airflow_partitions.engine.ledger.addresses import Addresses, month_of

#: The cell of an asset's :class:`LedgerProgress`.
PROGRESS = "ledger"
#: The cell of what of an asset is :class:`.Forgotten`.
FORGOTTEN = "forgotten"
#: What the names of the cells of pages begin with.
PAGE = "page/"
_VERSION = 1
_MONTH = re.compile(r"(\d{6})?")


@attrs.frozen(slots=False)
class LedgerProgress:
    """Progress of an asset's ledger through its events.

    :ivar definition: of the keys of the asset's events.
    :ivar event: id of the event up to which all are in the ledger.
    :ivar until: all events before this instant are; aware.
    :ivar months: those that have a page; the empty text stands for all of a definition without time.
    """

    definition: PartitionDefinition | KeyFormat
    event: int = 0
    until: datetime | None = None
    months: tuple[str, ...] = ()

    @cached_property
    def addresses(self) -> Addresses:
        """Addresses of the ledger's records."""
        return Addresses.by(self.definition)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "version": _VERSION,
            **meaning_form(self.definition),
            "event": self.event,
            "until": None if self.until is None else self.until.isoformat(),
            "months": list(self.months),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LedgerProgress:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(data, _VERSION, "the progress of a ledger")
        until = None if data["until"] is None else read_time(data["until"])
        return cls(meaning_from(data), read_number(data["event"]), until, tuple(map(checked_month, data["months"])))

    @classmethod
    def leniently(cls, data: Mapping[str, Any]) -> LedgerProgress | None:
        """The inverse of :meth:`to_json`; ``None`` for what another release wrote, which is to be written anew."""
        return cls.from_json(data) if data["version"] == _VERSION else None


def meaning_form(meaning: PartitionDefinition | KeyFormat) -> dict[str, Any]:
    """JSON form of the definition or the key format of an asset's events, read back by :func:`meaning_from`."""
    return {"key_format" if isinstance(meaning, KeyFormat) else "definition": meaning.to_json()}


def meaning_from(form: Mapping[str, Any]) -> PartitionDefinition | KeyFormat:
    """The inverse of :func:`meaning_form`.

    :raises InvalidDefinitionError: if it is of no known kind.
    """
    return KeyFormat.from_json(form["key_format"]) if "key_format" in form else from_json(form["definition"])


def progress_from(meaning: Any, event: int, until: datetime | None, report: Report) -> LedgerProgress | None:
    """How far a ledger is by the columns of its row; ``None`` if it has not begun.

    :param report: is told of a definition that can't be read: it counts as another one.
    """
    if meaning is None:
        return None
    try:
        return LedgerProgress(meaning_from(meaning), event, until)
    except Exception as error:  # noqa: BLE001 - a kind of definition that is not there any more
        report(f"the definition by which the ledger was read can't be read: {error}")
        return None


def checked_month(month: Any) -> str:
    """A *month* as :func:`.month_of` names it, or the empty text.

    :raises ValueError: for anything else.
    """
    if not isinstance(month, str) or not _MONTH.fullmatch(month):
        raise ValueError(f"{month!r} is no month")
    return month


def page_cell(addresses: Addresses, month: str) -> str:
    """The cell of a page."""
    return f"{PAGE}{addresses.family}/{month}"


def page_text(times: Mapping[str, tuple[datetime, datetime]]) -> str:
    """The page with the *times* at which keys were materialized for the first and the last time, by the key's text."""
    instants = {text: [instant(at) for at in dict.fromkeys(both)] for text, both in times.items()}
    return json.dumps({"version": _VERSION, "times": instants})


def read_page(page: Any) -> dict[str, tuple[datetime, datetime]]:
    """The times on a page; the inverse of :func:`page_text`, once its JSON is read.

    :raises UnknownVersionError: if another release wrote it.
    """
    check_version(page, _VERSION, "a page of the ledger")
    times: dict[str, list[int]] = page["times"]
    if not all(type(at) is int for instants in times.values() for at in instants):
        raise ValueError("a time is no number")
    return {text: (utc(instants[0]), utc(instants[-1])) for text, instants in times.items()}


def months_with(selection: Selection, months: Iterable[str]) -> Iterator[str]:
    """Those of *months* in which keys of a *selection* may begin."""
    time_ranges = [box.time_range for box in selection.boxes if box.time_range is not None]
    ranges = [(month_of(start), month_of(end - 1)) for start, end in time_ranges]
    timeless = selection.definition.time is None
    for month in months:
        if timeless or any(low <= month <= high for low, high in ranges):
            yield month
