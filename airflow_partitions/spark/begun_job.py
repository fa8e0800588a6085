"""Word of a job that was begun, in its staging place: for a later try of its task, if that was killed meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import attrs

from airflow_partitions.core.errors import ResultError
from airflow_partitions.frames.input import Input
from airflow_partitions.spark.handover import FILE, Handover
from airflow_partitions.storage.filesystem.filesystem import names, read, remove, write
from airflow_partitions.storage.stores.staging import Staging

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.metadata.attempt import Attempt

VERSION = 1
_WORD = "job.json"


@attrs.frozen
class BegunJob:
    """A job that was begun by a try of a task.

    The word of it is written before the job is started, and goes with its staging place: when its partition is
    published, or when the job is cancelled. So there is none where a task has succeeded, and one that is cleared then
    really runs again.

    :ivar handover: what it was given.
    :ivar work: what it does, as :func:`work_of` tells it.
    """

    handover: Handover
    work: str

    @property
    def attempt(self) -> Attempt:
        """The try that began it."""
        return self.handover.attempt

    def save(self) -> None:
        """Leave the word."""
        staging = self.handover.staging
        form = {"version": VERSION, "work": self.work, "base": staging.base}
        write(staging.folder / _WORD, json.dumps(form).encode())

    def forget(self) -> None:
        """Take the word away."""
        remove(self.handover.staging.folder / _WORD)

    @classmethod
    def found(cls, own: Handover, work: str | None = None, name: str | None = None) -> Self | None:
        """The last job of the run of *own* that another try has begun.

        :param work: what it has to do; by default anything.
        :param name: of that try; by default any.
        """
        token, place = own.attempt.token, own.staging.folder.parent
        tries = [each for each in names(place) if each.startswith(f"{token}-") and each != own.attempt.name]
        begun = (cls._in(own, each) for each in sorted(tries, key=_number, reverse=True) if name in (None, each))
        return next((each for each in begun if each is not None and work in (None, each.work)), None)

    @classmethod
    def _in(cls, own: Handover, name: str) -> Self | None:
        folder = own.staging.folder.parent / name
        word, text = read(folder / _WORD), read(folder / FILE)
        if word is None or text is None:
            return None
        try:
            form, handover = json.loads(word), Handover.from_text(text.decode())
        except (ResultError, ValueError):  # of another release, or damaged: the job is left alone
            return None
        if form["version"] != VERSION or handover.asset != own.asset:
            return None
        files = own.staging.files
        if files is not None:
            files = _of_try(files, own.attempt.name, name)
        return cls(
            attrs.evolve(handover, output=own.output, staging=Staging(folder, files, form["base"])), form["work"]
        )


def _content_of(application: str) -> str:
    """What tells the program from another one: its path may be that of each release's own folder."""
    return application if "://" in application else hashlib.sha256(Path(application).read_bytes()).hexdigest()


def _of_try(place: Location, own: str, name: str) -> Location:
    """*place* of the try *own*, as try *name* has it."""
    if place.name == own:
        return place.parent / name
    return _of_try(place.parent, own, name) / place.name


def _number(name: str) -> int:
    """The number of the try with this *name*."""
    return int(name.split("-")[1])


def work_of(handover: Handover, inputs: Mapping[str, Input], conf: Mapping[str, Any], application: str) -> str:
    """What tells a job from one that would do something else, or from other files.

    :param inputs: as the task knows them: what is stored of them now counts.
    :param application: path of the program.
    """
    form = json.loads(handover.to_text())
    for name in ("run", "inputs"):
        del form[name]
    form["output"] = form["output"]["storage"]
    stored = {name: source.identities() for name, source in inputs.items()}
    work = [form, sorted(conf.items()), _content_of(application), stored]
    return hashlib.sha256(json.dumps(work, default=str, sort_keys=True).encode()).hexdigest()
