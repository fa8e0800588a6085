"""Versions of the forms that are kept outside a process: in Airflow's database and in state stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from airflow_partitions.core.errors import UnknownVersionError

T = TypeVar("T")
#: Is given a sentence about what is wrong.
Report = Callable[[str], object]

_SHOWN = 80


def check_version(form: Any, version: int, name: str) -> None:
    """Refuse a *form* of another version than the one that this release writes.

    :param name: of the form, for the message: ``"the ledger's page"``.
    :raises UnknownVersionError: naming both versions.
    """
    if not isinstance(form, Mapping):
        raise UnknownVersionError(f"{name} is {repr(form)[:_SHOWN]}; expected an object of version {version}")
    stored = form.get("version")
    if stored != version:
        raise UnknownVersionError(
            f"{name} has version {stored!r}; expected {version}. Another release of airflow-partitions wrote it: run"
            " one release everywhere, or delete what the other one left"
        )


def read_form(form: Any, read: Callable[[Any], T], name: str, report: Report) -> T | None:
    """What *read* makes of a *form* that anybody may have written; ``None`` if there is none.

    One that can't be read counts as not there, and is reported.

    :param name: of the form, for messages.
    :param report: is called with a sentence.
    :raises UnknownVersionError: if another release wrote it.
    """
    if form is None:
        return None
    reason = "nothing that this package writes"
    if isinstance(form, Mapping) and "version" not in form:
        reason = (
            "it has no version, as what an older release has written; 'airflow asset-partitions reconcile ASSET' writes"
            " a ledger anew, and 'airflow tasks clear' of the task that wrote it all else"
        )
    if isinstance(form, Mapping) and type(form.get("version")) is int:
        try:
            return read(form)
        except UnknownVersionError:
            raise
        except Exception as error:  # noqa: BLE001 - others write there, too: any value may stand for any other
            reason = f"{type(error).__name__}: {error}"
    report(f"{name} can't be read, and counts as not there: {reason}; it is {repr(form)[:_SHOWN]}")
    return None


def read_time(text: str) -> datetime:
    """The aware time that a form holds as *text*.

    :raises ValueError: for a time without an offset, and for anything else.
    """
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text!r} has no UTC offset")
    return time


def read_number(number: Any) -> int:
    """The id of a row that a form holds.

    :raises ValueError: for anything but a natural number.
    """
    if type(number) is not int or number < 0:
        raise ValueError(f"{number!r} is not the id of a row")
    return number
