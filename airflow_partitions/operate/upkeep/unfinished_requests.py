"""Requests of which somebody was killed before all of their runs were there, or at work again; those of long ago."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

from airflow.models.backfill import Backfill
from sqlalchemy import delete, exists, or_, select
from sqlalchemy.exc import OperationalError

from airflow_partitions.core.errors import NotMigratedError, PartitionError
from airflow_partitions.core.versions import Report
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import Hold
from airflow_partitions.engine.ledger.run_requests import delete_run_requests
from airflow_partitions.operate.requests.control import finish
from airflow_partitions.operate.requests.request_rows import IS_UNFINISHED, OWN_BACKFILL, Row

log = logging.getLogger(__name__)
#: Whoever creates runs writes down how far it is more often than that.
ABANDONED = timedelta(minutes=1)
#: Days for which a request is kept after its end, if nothing else is set.
KEEP = 365
#: By then a run that was asked for is there, or will never be.
_KEEP_RUN_REQUESTS = timedelta(days=1)


def finish_requests(report: Report, abandoned: timedelta = ABANDONED) -> int:
    """Create the runs that requests lack, and let those work again that are retried; returns of how many requests.

    :param report: is told of those for which that fails.
    :param abandoned: time without a new run after which nobody is at work on a request any more.
    """
    finished = 0
    for number in _unfinished(datetime.now(UTC) - abandoned):
        try:
            request = finish(number)
        except (OperationalError, NotMigratedError):  # nothing else would work either
            raise
        except PartitionError as error:
            report(f"request {number}: {error}")
        except Exception as error:
            log.exception("The runs of request %s could not be created", number)
            report(f"request {number}: {type(error).__name__}: {error}")
        else:
            finished += not request.is_making
    return finished


def delete_old_requests() -> int:
    """Delete the requests that ended long ago, or whose backfill is gone; returns how many.

    The backfill stays, on Airflow's pages, and so do its runs. What holds a Dag is not deleted. Requests of schedulers
    for runs go with them.
    """
    from airflow.sdk.configuration import conf

    now = datetime.now(UTC)
    keep = timedelta(days=conf.getint("asset_partitions", "keep_requests", fallback=KEEP))
    is_gone = ~exists().where(OWN_BACKFILL)
    has_ended = exists().where(OWN_BACKFILL, Backfill.completed_at < now - keep)
    old = delete(Row).where(or_(is_gone, has_ended), Row.id.not_in(select(Hold.request_id)))
    with open_session() as session:
        deleted = session.connection().execute(old).rowcount
        session.commit()
    delete_run_requests(now - _KEEP_RUN_REQUESTS)
    return deleted


def _unfinished(before: datetime) -> list[int]:
    """The requests with work left, to which nobody has written since an instant."""
    query = select(Row.id).join(Backfill, OWN_BACKFILL).where(IS_UNFINISHED, Row.written_at < before).order_by(Row.id)
    with open_session() as session:
        return list(session.scalars(query))
