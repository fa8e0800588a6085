"""Partitions that count as missing though events tell of them: somebody has said so."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import bindparam, delete, insert, select

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.versions import Report, check_version, read_number, read_time
from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.database.models import Asset
from airflow_partitions.engine.database.models import Forgetting as Row
from airflow_partitions.engine.ledger.asset_rows import asset_id_of, id_of, is_current

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select
    from sqlalchemy.orm import Session

    from airflow_partitions.core.keys import Key

log = logging.getLogger(__name__)

_VERSION = 1
_PARTS = select(Row.id, Row.asset_id, Row.selection, Row.event, Row.at, Row.by, Row.reason).order_by(Row.id)
_PARTS_OF_SOME = _PARTS.where(Row.asset_id.in_(bindparam("assets", expanding=True)))


@attrs.frozen
class Forgetting:
    """Partitions that somebody has forgotten.

    :ivar selection: these partitions.
    :ivar event: id of the asset's newest event at that time: later ones count.
    :ivar at: when it was; aware.
    :ivar by: who it was.
    :ivar reason: why; empty if nothing was said.
    """

    selection: Selection
    event: int
    at: datetime
    by: str
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "selection": self.selection.to_json(),
            "event": self.event,
            "at": self.at.isoformat(),
            "by": self.by,
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Forgetting:
        """The inverse of :meth:`to_json`."""
        selection = Selection.from_json(form["selection"])
        return cls(selection, read_number(form["event"]), read_time(form["at"]), str(form["by"]), str(form["reason"]))


@attrs.frozen
class Forgotten:
    """All partitions of an asset that were forgotten and not taken back, in as many parts as there are occasions.

    A partition is in one part at most: the last one counts.
    """

    parts: tuple[Forgetting, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.parts)

    def hides(self, key: Key | str, event: int) -> bool:
        """Whether the *event* of a partition, by id, is forgotten; 0 stands for a record that no event explains.

        :param key: of the partition, or its text.
        """
        return any(event <= part.event and key in part.selection for part in self.parts)

    def part_of(self, key: Key) -> Forgetting | None:
        """The part that *key* is in; ``None`` if it never was forgotten. Its later events count all the same."""
        return next((part for part in self.parts if key in part.selection), None)

    def also(self, part: Forgetting) -> Forgotten:
        """With one more *part*; what the same person has forgotten for the same reason between two events is one."""
        *parts, last = self.without(part.selection).parts or (None,)
        if last is None:
            return Forgotten((part,))
        if _occasion(last) == _occasion(part):
            return Forgotten((*parts, attrs.evolve(part, selection=last.selection | part.selection)))
        return Forgotten((*parts, last, part))

    def without(self, selection: Selection) -> Forgotten:
        """Without the partitions of a *selection*: what events tell of them counts again."""
        rest = (
            attrs.evolve(part, selection=part.selection - selection)
            if part.selection.definition == selection.definition
            else part
            for part in self.parts
        )
        return Forgotten(tuple(part for part in rest if part.selection))

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {"version": _VERSION, "parts": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Forgotten:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "what is forgotten of an asset")
        return cls(tuple(map(Forgetting.from_json, form["parts"])))


def forgotten_of(asset: str) -> Forgotten:
    """What of the active *asset* is forgotten."""
    with open_connection() as connection:
        asset_id = asset_id_of(connection, asset)
        return Forgotten() if asset_id is None else read_forgotten(connection, asset_id)


def read_forgotten(session: Session | Connection, asset: int | str, report: Report = log.warning) -> Forgotten:
    """What is forgotten of an asset.

    :param asset: its id, or the name of the current one.
    :param report: is told of what can't be read, which counts as taken back.
    """
    rows = session.execute(_parts_of(by_name=isinstance(asset, str)), {"asset": asset})
    return Forgotten(tuple(part for _, part in _parts(rows, report)))


def forgotten_by_asset(
    session: Session | Connection, asset_ids: Collection[int], report: Report = log.warning
) -> dict[int, Forgotten]:
    """What is forgotten of those assets with some ids of which anything is; the *report* as for
    :func:`read_forgotten`.
    """
    parts: dict[int, list[Forgetting]] = defaultdict(list)
    for portion in portions(sorted(asset_ids)):
        for asset_id, part in _parts(session.execute(_PARTS_OF_SOME, {"assets": portion}), report):
            parts[asset_id].append(part)
    return {asset_id: Forgotten(tuple(own)) for asset_id, own in parts.items()}


@cache
def _parts_of(*, by_name: bool) -> Select[Any]:
    return _PARTS.where(Row.asset_id == id_of(by_name=by_name))


def _parts(rows: Iterable[Any], report: Report) -> Iterator[tuple[int, Forgetting]]:
    """What *rows* tell, each with the id of its asset."""
    for number, asset_id, selection, *rest in rows:
        if (read := read_selection(number, selection, report)) is not None:
            yield asset_id, Forgetting(read, *rest)


def read_selection(number: int, form: Any, report: Report) -> Selection | None:
    """The partitions in the *form* of the row with that *number*; ``None`` if it can't be read, which is reported."""
    try:
        return Selection.from_json(form)
    except Exception as error:  # noqa: BLE001 - a class of keys or a kind of definition that is not there any more
        report(f"row {number} of what is forgotten can't be read, and counts as taken back: {error}")
        return None


def write_forgotten(session: Session, asset_id: int, forgotten: Forgotten) -> None:
    """Keep what is *forgotten* of an asset, whose row is locked."""
    session.execute(delete(Row).where(Row.asset_id == asset_id))
    for part in forgotten.parts:
        form = attrs.asdict(part, recurse=False) | {"selection": part.selection.to_json()}
        session.execute(insert(Row).values(asset_id=asset_id, **form))


def corrections_of(assets: Iterable[str]) -> dict[str, int]:
    """How often each of the active *assets* was corrected, as far as anything is kept of it."""
    with open_connection() as connection:
        return {row.name: row.corrections for row in connection.execute(_corrections(), {"assets": list(assets)})}


@cache
def _corrections() -> Select[str, int]:
    from airflow.models.asset import AssetModel

    return (
        select(AssetModel.name, Asset.corrections)
        .join(Asset, Asset.id == AssetModel.id)
        .where(AssetModel.name.in_(bindparam("assets", expanding=True)), is_current())
    )


def _occasion(part: Forgetting) -> tuple[object, ...]:
    return part.event, part.by, part.reason, part.selection.definition
