"""The context in which a leader's task makes the partition of a member: that of the member's own run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from airflow_partitions.engine.runs.pre_execute import partition_of

if TYPE_CHECKING:
    from airflow.sdk import Context

    from airflow_partitions.engine.batches.member import Member


class MemberInstance:
    """The task instance of a member, which never starts: names its run, and keeps what it pushes.

    All else is asked of the leader's.

    :ivar pushed: XComs by key.
    """

    def __init__(self, leader: Any, member: Member) -> None:
        self._leader = leader
        self.run_id = member.run_id
        self.try_number = member.try_number
        self.pushed: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._leader, name)

    def xcom_push(self, key: str, value: Any) -> None:
        """Keep it for the outcome."""
        self.pushed[key] = value

    def xcom_pull(self, *_: Any, **__: Any) -> None:
        """Nothing: its run has no other task, and has done nothing before."""


def member_context(context: Context, member: Member) -> Context:
    """The *context* of a leader's task as that of a member's would be."""
    from airflow.sdk.execution_time.context import OutletEventAccessors

    run: Any = context["dag_run"]
    own: Any = {
        **context,
        "ti": MemberInstance(context["ti"], member),
        "dag_run": run.model_copy(
            update={
                "run_id": member.run_id,
                "partition_key": member.key,
                "run_after": member.run_after,
                "run_type": member.run_type,
                "clear_number": member.clear_number,
            }
        ),
        "run_id": member.run_id,
        "outlet_events": OutletEventAccessors(),
    }
    own["task_instance"] = own["ti"]
    own["partition"] = partition_of(own)
    return own  # type: ignore[no-any-return]


#: The context of the partition that a thread makes.
_OWN: ContextVar[Context] = ContextVar("own")


class ThreadContext(Mapping[str, Any]):
    """The current context where threads make partitions: in each thread that of its own partition.

    Airflow keeps one for the process.

    :param leader: elsewhere.
    """

    def __init__(self, leader: Context) -> None:
        self._leader = leader

    def __getitem__(self, name: str) -> Any:
        return _OWN.get(self._leader)[name]  # type: ignore[literal-required]

    def __iter__(self) -> Iterator[str]:
        return iter(_OWN.get(self._leader))

    def __len__(self) -> int:
        return len(_OWN.get(self._leader))


@contextmanager
def thread_contexts(leader: Context) -> Iterator[None]:
    """Let ``get_current_context()`` give the context that each thread has entered, for the block."""
    from airflow.sdk.execution_time.context import set_current_context

    with set_current_context(ThreadContext(leader)):  # type: ignore[arg-type]
        yield


def enter(context: Context) -> None:
    """Make *context* the current one of this thread, inside :func:`thread_contexts`."""
    _OWN.set(context)
