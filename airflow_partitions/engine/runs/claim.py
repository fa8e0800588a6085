"""One run of a partition at a time.

Airflow allows several runs of one key, and several Dags that make one asset. The run that works on an asset's partition
leaves its name and its Dag's in the asset's state store; another one that comes meanwhile, of any Dag, is put back and
looks again later.

The store only knows get and set. Of several runs that come at the same moment a splitter lets at most one through: each
writes its name at the door, goes on only if nobody has passed it lately, and wins only if its name is still at the door
(L. Lamport, "A fast mutual exclusion algorithm", 1987).

Airflow throws the store away while no Dag names the asset. So a run also notes for itself what it has claimed, and whom
it has given way to; :mod:`.own_claims` makes the claims again of that.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import StorageError
from airflow_partitions.core.versions import check_version, read_form

if TYPE_CHECKING:
    from airflow.sdk import Asset
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor

log = logging.getLogger(__name__)

_VERSION = 1
_KEYS = ""  # no partition's key is empty
#: The cell of the claim of a list of keys.
KEYS_CLAIM = f"claim|{_KEYS}"  # as claim_cell gives it
LOOK_AGAIN = timedelta(seconds=15)
# How long a run that passed the door keeps others from passing, far longer than the few calls between door and claim
# take. When several came together, none may have won; after this time the door is open again.
_PASSING = timedelta(seconds=30)


@attrs.frozen
class Claimant:
    """A run, of whatever Dag. Run ids are unique within a Dag only."""

    dag_id: str = attrs.field(validator=attrs.validators.instance_of(str))
    run_id: str = attrs.field(validator=attrs.validators.instance_of(str))

    def __str__(self) -> str:
        return f"run {self.run_id} of {self.dag_id}"

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Claimant:
        """The run in what :func:`note_of` gave.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "the claim of a partition")
        return cls(form["dag_id"], form["run_id"])


def claim(context: Mapping[str, Any], text: str, outlets: Iterable[Any]) -> None:
    """Claim the partition with the key *text* of each asset among *outlets*.

    :raises AirflowRescheduleException: if another run of the same partition is at work.
    :raises UnknownVersionError: if a run of another release has claimed it.
    """
    from airflow.sdk import Asset

    assets = [outlet for outlet in outlets if isinstance(outlet, Asset)]
    _claim(context, text, {asset.name: f"partition {text} of {asset.name}" for asset in assets})


def claim_keys(context: Mapping[str, Any], asset: Asset) -> None:
    """Claim the list of keys that *asset* stands for: one run at a time adds to it, so that they have an order.

    :raises AirflowRescheduleException: if another run is adding to it.
    :raises UnknownVersionError: if a run of another release has claimed it.
    """
    _claim(context, _KEYS, {asset.name: asset.name})


def claim_cell(text: str) -> str:
    """The cell of the claim of the partition with that key."""
    return f"claim|{text}"


def door_cell(text: str) -> str:
    """The cell of the run that came last to claim it."""
    return f"door|{text}"


def passed_cell(text: str) -> str:
    """The cell of the run that last passed the door."""
    return f"passed|{text}"


#: What the names of these cells begin with; a key follows.
CLAIM_CELLS = claim_cell(""), door_cell(""), passed_cell("")


def _claim(context: Mapping[str, Any], text: str, names: Mapping[str, str]) -> None:
    """Claim the key *text* of each asset.

    :param names: what is claimed, in words, by the names of the assets.
    """
    if not names or context.get("asset_state_store") is None:
        return
    from airflow.sdk.exceptions import AirflowRescheduleException
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor

    from airflow_partitions.engine.runs.own_claims import OwnClaims

    before = OwnClaims.read(context["task_state_store"], text)
    own, other = OwnClaims(behind=before.behind), None
    for asset in names:
        store = AssetStateStoreAccessor(name=asset)
        if other := _other_at_work(store, context, text, own.behind):
            claimed: Any = store.get(claim_cell(text)) or own.behind
            # One that only was at the door before may wait for this run.
            own = attrs.evolve(own, behind=claimed if claimant_in(claimed) == other else None)
            log.info("%s is at work on %s; looking again later", other, names[asset])
            break
        own = OwnClaims((*own.assets, asset))
    if own != before:
        own.write(context["task_state_store"], text)
    if other:
        raise AirflowRescheduleException(datetime.now(UTC) + LOOK_AGAIN)


def last_claimant(asset: str, text: str) -> Claimant | None:
    """The last run that claimed the partition with the key *text* of an asset, whatever became of it."""
    return claimant_in(claim_of(asset, text))


def claim_of(asset: str, text: str) -> Any:
    """The note of the last claim of a partition, as it stands in the asset's state store; ``None`` if there is none."""
    from airflow.sdk.execution_time.context import AssetStateStoreAccessor

    return AssetStateStoreAccessor(name=asset).get(claim_cell(text))


def _other_at_work(
    store: AssetStateStoreAccessor, context: Mapping[str, Any], text: str, behind: Any = None
) -> Claimant | None:
    """The run that this one gives way to; ``None`` if the claim is now this one's.

    :param behind: the claim that was there when it last looked, for when Airflow has thrown that away.
    """
    claimed, door, passed = claim_cell(text), door_cell(text), passed_cell(text)
    own = Claimant(context["dag_run"].dag_id, context["dag_run"].run_id)
    if other := _running(store.get(claimed) or behind, context):
        return other
    store.set(door, note_of(own))
    if (other := _running(passing := store.get(passed), context)) and is_lately(passing):
        return other
    store.set(passed, note_of(own))
    last = claimant_in(store.get(door))
    if last is None:
        raise StorageError("the asset's state store lost what was just written; expected a backend that keeps it")
    if last != own:
        return last
    store.set(claimed, note_of(own))
    return None


def _running(note: Any, context: Mapping[str, Any]) -> Claimant | None:
    """The run in a note, if it is another one and still running."""
    claimant, run = claimant_in(note), context["dag_run"]
    if claimant is None or claimant == Claimant(run.dag_id, run.run_id):
        return None
    count = context["ti"].get_dr_count(claimant.dag_id, run_ids=[claimant.run_id], states=["running"])
    return claimant if count else None


def claimant_in(note: Any) -> Claimant | None:
    """The run in a note; ``None`` if there is none, or what others wrote there names none."""
    return read_form(note, Claimant.from_json, "the claim of a partition", log.warning)


def note_of(claimant: Claimant, at: datetime | None = None) -> Any:
    """What a run leaves in an asset's state store, with a time, by default that of now."""
    return {"version": _VERSION, **attrs.asdict(claimant), "at": (at or datetime.now(UTC)).isoformat()}


def is_newer(note: Any, other: Any) -> bool:
    """Whether a *note* was left after the *other* one."""
    time, other_time = _time_of(note), _time_of(other)
    return time is not None and other_time is not None and time > other_time


def is_lately(note: Any) -> bool:
    """Whether a *note* was left so lately that the run in it keeps others from passing the door."""
    time = _time_of(note)
    return time is not None and abs(datetime.now(UTC) - time) < _PASSING


def _time_of(note: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(note["at"])
    except (KeyError, TypeError, ValueError):  # what others wrote there
        return None
    return time if time.tzinfo else None
