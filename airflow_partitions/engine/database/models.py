"""Our own tables in Airflow's database: all that must last.

Instants that are compared and added up by the hundred thousand are whole numbers: microseconds since the epoch, as
:func:`.instant` gives them. All others are times with a zone, always in UTC.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from airflow.models.base import naming_convention
from airflow.utils.sqlalchemy import UtcDateTime
from sqlalchemy import (
    BigInteger,
    Boolean,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from airflow_partitions.engine.database.form import Form

#: What the names of all our tables begin with.
PREFIX = "asset_partitions_"

# Names of assets and addresses are ASCII, of one byte each: MySQL's indexes take 3,072 bytes.
_NAME = String(1500).with_variant(String(1500, collation="latin1_general_cs"), "mysql")
# Compared letter by letter, as Airflow's own; in MySQL "a" equals "A" otherwise.
_ID = String(250).with_variant(String(250, collation="utf8mb3_bin"), "mysql")
_KEY = String(250).with_variant(String(250, collation="utf8mb3_bin"), "mysql")
_SEGMENTS = String(500).with_variant(String(500, collation="utf8mb3_bin"), "mysql")
_LONG = Text().with_variant(Text(length=16_000_000), "mysql")


class Base(DeclarativeBase):
    """What our tables share."""

    metadata = MetaData(naming_convention=naming_convention)


class Asset(Base):
    """An asset with partitions, whether Airflow has it active or not.

    :ivar id: that of Airflow's own row, which stays as long as the database does.
    :ivar meaning: JSON form of the definition or the key format by which its events were read; ``None`` before that.
    :ivar event: id of the event up to which all are in the ledger.
    :ivar until: all events before this instant are.
    :ivar changes: how often its partitions have been written; another number, other partitions.
    :ivar corrections: how often something was changed that no event tells of.
    :ivar unpublished: the months of whose partitions tasks can't read the newest yet; ``None`` if there is none.
    :ivar maintained_at: when its table was last begun to be kept small.
    """

    __tablename__ = f"{PREFIX}asset"
    __table_args__ = (Index(f"idx_{PREFIX}asset_name", "name"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(_NAME)
    uri: Mapped[str] = mapped_column(_NAME)
    meaning: Mapped[Any] = mapped_column(Form(none_as_null=True), nullable=True)
    event: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    changes: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    corrections: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    unpublished: Mapped[Any] = mapped_column(Form(none_as_null=True), nullable=True)
    maintained_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Partition(Base):
    """A materialized partition.

    :ivar family: short name of all definitions whose keys mean the same, as :class:`.Addresses` gives it.
    :ivar start: of its interval, an instant; 0 without a time dimension.
    :ivar segments: texts of its segments, joined.
    :ivar key: text of the key, as its events carry it.
    :ivar first: instant at which it was materialized for the first time.
    :ivar last: instant at which it last was.
    :ivar event: id of the last event; 0 if none explains it.
    :ivar dag_id: the Dag that sent it; ``None`` if it came from outside.
    :ivar extra: of the event, without what has columns of its own.
    :ivar is_orphaned: whether the asset's definition has it no longer.
    :ivar is_forgotten: whether somebody has said that it counts as missing.
    """

    __tablename__ = f"{PREFIX}partition"

    asset_id: Mapped[int] = mapped_column(ForeignKey(Asset.id, ondelete="CASCADE"), primary_key=True)
    family: Mapped[str] = mapped_column(String(12), primary_key=True)
    start: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    segments: Mapped[str] = mapped_column(_SEGMENTS, primary_key=True)
    key: Mapped[str] = mapped_column(_KEY)
    first: Mapped[int] = mapped_column(BigInteger)
    last: Mapped[int] = mapped_column(BigInteger)
    event: Mapped[int] = mapped_column(BigInteger)
    dag_id: Mapped[str | None] = mapped_column(_ID)
    run_id: Mapped[str | None] = mapped_column(_ID)
    rows: Mapped[int | None] = mapped_column(BigInteger)
    files: Mapped[int | None] = mapped_column(BigInteger)
    bytes: Mapped[int | None] = mapped_column(BigInteger)
    extra: Mapped[Any] = mapped_column(Form(none_as_null=True), nullable=True)
    is_orphaned: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    is_forgotten: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())


class Forgetting(Base):
    """Partitions that somebody has forgotten at one occasion, and nobody has taken back.

    :ivar selection: JSON form of these partitions.
    :ivar event: id of the asset's newest event at that time: later ones count.
    """

    __tablename__ = f"{PREFIX}forgetting"
    __table_args__ = (Index(f"idx_{PREFIX}forgetting_asset_id", "asset_id"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    asset_id: Mapped[int] = mapped_column(ForeignKey(Asset.id, ondelete="CASCADE"))
    selection: Mapped[Any] = mapped_column(Form)
    event: Mapped[int] = mapped_column(BigInteger)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    by: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)


class Consumer(Base):
    """How far the events of an upstream were looked at for a Dag that waits for it.

    :ivar asset_id: of the upstream.
    :ivar waits_for: digest of what the Dag waited for then: each has a row of its own.
    :ivar event: id of the last event that was looked at.
    """

    __tablename__ = f"{PREFIX}consumer"

    asset_id: Mapped[int] = mapped_column(ForeignKey(Asset.id, ondelete="CASCADE"), primary_key=True)
    dag_id: Mapped[str] = mapped_column(_ID, primary_key=True)
    waits_for: Mapped[str] = mapped_column(String(16), primary_key=True)
    event: Mapped[int] = mapped_column(BigInteger)
    looked_at: Mapped[datetime] = mapped_column(UtcDateTime)


class RunRequest(Base):
    """The last request of a scheduler for a run: of several schedulers one starts it.

    :ivar at: when it was made, by the clock of that scheduler.
    :ivar event: the newest asset event at that time, by id.
    :ivar run: the newest run of the partition at that time, by id; 0 if there was none.
    """

    __tablename__ = f"{PREFIX}run_request"

    dag_id: Mapped[str] = mapped_column(_ID, primary_key=True)
    key: Mapped[str] = mapped_column(_KEY, primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    event: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    run: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")


class Dag(Base):
    """A Dag of which partitions were asked for; who has locked it is the only one to begin or end a request of it."""

    __tablename__ = f"{PREFIX}dag"

    dag_id: Mapped[str] = mapped_column(_ID, primary_key=True)
    locked_at: Mapped[datetime] = mapped_column(UtcDateTime)


class Request(Base):
    """A request for partitions.

    :ivar id: that of its backfill, which is Airflow's.
    :ivar asset: name of the asset, as it was then.
    :ivar selection: JSON form of the partitions.
    :ivar partitions: how many these are.
    :ivar created: how many of them, from the first on, have a run by now.
    :ivar written_at: when somebody last worked on it.
    :ivar retried: when it was said that those of its runs that had failed are to work again, as long as not all do.
    """

    __tablename__ = f"{PREFIX}request"
    __table_args__ = (Index(f"idx_{PREFIX}request_dag_id", "dag_id"), Index(f"idx_{PREFIX}request_asker", "by"))

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    asset: Mapped[str] = mapped_column(_NAME)
    dag_id: Mapped[str] = mapped_column(_ID)
    selection: Mapped[Any] = mapped_column(Form)
    partitions: Mapped[int] = mapped_column(Integer)
    concurrency: Mapped[int] = mapped_column(Integer)
    newest_first: Mapped[bool] = mapped_column(Boolean)
    stop_at_failure: Mapped[bool] = mapped_column(Boolean)
    while_paused: Mapped[bool] = mapped_column(Boolean)
    label: Mapped[str] = mapped_column(_LONG)
    conf: Mapped[Any] = mapped_column(Form)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    by: Mapped[str] = mapped_column(String(512))
    created: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    cancelled: Mapped[datetime | None] = mapped_column(UtcDateTime)
    written_at: Mapped[datetime] = mapped_column(UtcDateTime)
    retried: Mapped[datetime | None] = mapped_column(UtcDateTime)


class BatchMember(Base):
    """A run whose partition another run of its Dag, its leader, makes together with its own, or has made.

    :ivar run_id: number of the run; Airflow's, as that of the leader.
    :ivar outcome: ``made``, ``skipped``, or ``failed``: then the run tries it by itself; ``None`` before the
        leader ends.
    :ivar error: what made it fail, in one line.
    """

    __tablename__ = f"{PREFIX}batch_member"
    __table_args__ = (Index(f"idx_{PREFIX}batch_member_leader_id", "leader_id"),)

    run_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    leader_id: Mapped[int] = mapped_column(Integer)
    outcome: Mapped[str | None] = mapped_column(String(8))
    error: Mapped[str | None] = mapped_column(Text)


class LimitedRun(Base):
    """A slot that a run has, of those that its limits leave to one value; or the one that it waits for, while it is
    queued.

    The row of number 0 is nobody's: who gives slots, or takes them back, locks it.

    :ivar run_id: number of the run; Airflow's.
    :ivar name: of the limit, as :class:`.WorkSlot` has it.
    :ivar value: text of the value.
    :ivar most: as many slots there are of these.
    :ivar slots: as many of them the run has, for its own partition and for those of its batch; 0 while it waits.
    :ivar run_after: that of the run, which is put off while it waits; ``None`` once it has what it waits for.
    """

    __tablename__ = f"{PREFIX}limited_run"
    __table_args__ = (Index(f"idx_{PREFIX}limited_run_value", "name", "value"),)

    run_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(_SEGMENTS, primary_key=True)
    value: Mapped[str] = mapped_column(_KEY, primary_key=True)
    most: Mapped[int] = mapped_column(Integer)
    slots: Mapped[int] = mapped_column(Integer)
    run_after: Mapped[datetime | None] = mapped_column(UtcDateTime)


class Hold(Base):
    """A paused Dag that works for a request, and for nothing else, until that has ended."""

    __tablename__ = f"{PREFIX}hold"

    dag_id: Mapped[str] = mapped_column(_ID, primary_key=True)
    request_id: Mapped[int] = mapped_column(ForeignKey(Request.id), primary_key=True)


class TaskRequest(Base):
    """What a task asks for: it reaches no database, so it leaves that in the state store, and upkeep takes it over.

    :ivar id: the same for all tries of the task.
    :ivar asset: name of the asset.
    :ivar form: JSON form of what is asked for.
    :ivar answer: JSON form of what became of it; ``None`` before the first answer.
    :ivar ended: when nothing more became of it.
    """

    __tablename__ = f"{PREFIX}task_request"

    id: Mapped[str] = mapped_column(String(250), primary_key=True)
    asset: Mapped[str] = mapped_column(_NAME)
    form: Mapped[Any] = mapped_column(Form)
    answer: Mapped[Any] = mapped_column(Form(none_as_null=True), nullable=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended: Mapped[datetime | None] = mapped_column(UtcDateTime)


class KeyList(Base):
    """The list of the keys of a definition that are known only at runtime.

    Tasks add to it in a cell of the state store: it counts for the whole list as long as it was made of this revision.

    :ivar name: of the definition.
    :ivar revision: how often it was changed here, and not by a task.
    :ivar cell_at: when the cell by which tasks read it was last written and taken over; ``None`` before that.
    """

    __tablename__ = f"{PREFIX}key_list"
    __table_args__ = (UniqueConstraint("name"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    name: Mapped[str] = mapped_column(_KEY)
    revision: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    cell_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class RuntimeKey(Base):
    """A key on such a list.

    :ivar place: orders the list.
    :ivar previous: the key before it when it was added; ``None`` for the first.
    :ivar details: what was kept with it.
    """

    __tablename__ = f"{PREFIX}runtime_key"

    list_id: Mapped[int] = mapped_column(ForeignKey(KeyList.id, ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(_KEY, primary_key=True)
    place: Mapped[int] = mapped_column(Integer)
    previous: Mapped[str | None] = mapped_column(_KEY)
    details: Mapped[Any] = mapped_column(Form(none_as_null=True), nullable=True)


class Upkeep(Base):
    """A process that keeps up, or stands by: the oldest that is alive works.

    :ivar heartbeat_at: when it last said that it is alive.
    :ivar ended_at: when it ended by itself; ``None`` before that, and if it was killed.
    """

    __tablename__ = f"{PREFIX}upkeep"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    host: Mapped[str] = mapped_column(String(500))
    user: Mapped[str] = mapped_column(String(500))
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    heartbeat_at: Mapped[datetime] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
