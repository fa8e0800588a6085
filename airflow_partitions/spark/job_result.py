"""The report of a job: one file, written last."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from airflow_partitions.checks.result import CheckResult
from airflow_partitions.core import errors
from airflow_partitions.core.errors import JobError, PartitionError, ResultError
from airflow_partitions.frames.result import Reads, Result
from airflow_partitions.storage.filesystem.filesystem import write
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.stores.staging import Staging

#: Of the result file and the error file.
VERSION = 1
#: So many characters are kept of an error: that of a query has the stack of its driver, too.
_LONGEST = 10_000
#: What Java says when its memory has ended.
_MEMORY = "java.lang.OutOfMemoryError"
#: How many of the places and words that tell what was not counted go into the asset event.
_SHOWN = 20


@attrs.frozen(kw_only=True)
class JobResult(Result):
    """The outcome of a job.

    :ivar attempt: name of the try that made it.
    :ivar others: other places that were read.
    :ivar checks: results of the checks that it made of one partition.
    :ivar checks_of_several: of each of several, by the text of its key.
    :ivar unseen: what was read and not counted, in words.
    :ivar unwatched: code that may have read by itself, in words: nobody can look into it.
    :ivar several: the files of several partitions, as :class:`.Several` has them; ``None`` if one was made.
    :ivar application: Spark's id of the application.
    :ivar seconds: from the start of the session to the end of the write.
    """

    attempt: str
    others: tuple[str, ...]
    application: str
    unseen: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    checks_of_several: Mapping[str, tuple[CheckResult, ...]] = attrs.field(factory=dict)
    several: Mapping[str, Any] | None = None

    def save(self, staging: Staging) -> None:
        """Write the result file, in one step."""
        form = {"version": VERSION, **attrs.asdict(self, recurse=False), "written": self.written.to_json()}
        form["checks"] = [attrs.asdict(check) for check in self.checks]
        form["checks_of_several"] = {
            key: [attrs.asdict(check) for check in checks] for key, checks in self.checks_of_several.items()
        }
        form["reads"] = {name: attrs.asdict(reads) for name, reads in self.reads.items()}
        write(staging.result, json.dumps(form, separators=(",", ":")).encode())

    @classmethod
    def load(cls, staging: Staging, attempt: str) -> JobResult:
        """Read the result file of *attempt*.

        :raises ResultError: if there is none, or it is not one of this try.
        """
        try:
            form = json.loads(staging.result.read_text())
            _check_version(form.pop("version"))
            reads = {name: Reads(**counts) for name, counts in form.pop("reads").items()}
            result = cls(
                **{
                    **form,
                    "written": StagedFiles(**form["written"]),
                    "others": tuple(form["others"]),
                    "unseen": tuple(form["unseen"]),
                    "unwatched": tuple(form["unwatched"]),
                    "checks": _checks(form["checks"]),
                    "checks_of_several": {key: _checks(each) for key, each in form["checks_of_several"].items()},
                },
                reads=reads,
            )
        except FileNotFoundError:
            raise ResultError(
                f"the job ended without a result file {staging.result}; expected one, written last: did it end early?"
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise ResultError(f"the result file {staging.result} can't be read: {error!r}") from error
        if result.attempt != attempt:
            raise ResultError(f"the result file is that of try {result.attempt!r}; expected {attempt!r}")
        return result

    def summary(self) -> dict[str, Any]:
        """Counts for the asset event, and what they leave out."""
        return {**super().summary(), "application": self.application, **self.left_out()}

    def left_out(self) -> dict[str, Any]:
        """What the counts leave out, for the asset event of each partition that was made."""
        left_out = {
            name: list(words[:_SHOWN])
            for name, words in (("others", self.others), ("unseen", self.unseen), ("unwatched", self.unwatched))
        }
        unproven = [name for name, counts in self.reads.items() if counts.rows is None]  # text: the view lists it
        return {
            **({"unproven": ", ".join(unproven)} if unproven else {}),
            **{name: words for name, words in left_out.items() if words},
        }

    def _notes(self) -> list[str]:
        return [f"read elsewhere: {', '.join(self.others[:_SHOWN])}"] if self.others else []


def save_error(staging: Staging, error: Exception | SystemExit) -> None:
    """Leave word of why the job gave up, for the Airflow task to raise again."""
    form = {"version": VERSION, "type": type(error).__name__, "message": str(error)[:_LONGEST]}
    write(staging.error, json.dumps(form).encode())


def load_error(staging: Staging) -> Exception | None:
    """Why the job gave up, if it said so: an error of ours as it was, memory that ended, any other as a
    :class:`.JobError`."""
    try:
        form = json.loads(staging.error.read_text())
        _check_version(form["version"])
    except (OSError, ValueError, KeyError):
        return None
    name, message = form["type"], form["message"]
    if name == MemoryError.__name__ or _MEMORY in message:
        return MemoryError(message)
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, PartitionError):
        return kind(message)
    return JobError(f"{name}: {message}")


def _checks(forms: Sequence[Mapping[str, Any]]) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(**form) for form in forms)


def _check_version(version: object) -> None:
    if version != VERSION:
        raise ValueError(
            f"version {version!r}; expected {VERSION}, by the same release of airflow_partitions in Airflow and on the"
            " driver"
        )
