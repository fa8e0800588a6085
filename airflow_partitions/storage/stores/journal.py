"""Changing several folders in one step, for those who look into the journal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import attrs

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.filesystem.exchange import exchange, move, replace
from airflow_partitions.storage.filesystem.filesystem import names, write

#: Folder of the commits that change several partitions, in the bookkeeping of a dataset.
COMMITS = "commits"
_PENDING = ".pending.json"
_DONE, _UNDONE, _COPY = ".done.json", ".undone.json", ".copy.json"


@attrs.frozen
class Places:
    """The folders that moves go between.

    :ivar root: folder of the dataset.
    :ivar bookkeeping: folder of what is kept about it.
    """

    root: Path
    bookkeeping: Path


@attrs.frozen
class Move:
    """One folder that comes, goes, or takes the place of another.

    Folders are told apart by their inode numbers, so it can be seen at any time how far a move has come.

    :ivar directory: the folder of the partition, below the root.
    :ivar staged: where its new content comes from, below the bookkeeping; ``None`` if it goes.
    :ivar old: where its old content goes, below the bookkeeping; ``None`` if there is none.
    :ivar after: inode number of the new content.
    :ivar before: inode number of the old content.
    """

    directory: str
    staged: str | None
    old: str | None
    after: int | None = None
    before: int | None = None

    @classmethod
    def planned(cls, places: Places, directory: str, staged: str | None, old: str | None) -> Move:
        """A move that has not begun."""
        after = None if staged is None else inode(places.bookkeeping / staged)
        return cls(directory, staged, old, after, None if old is None else inode(places.root / directory))

    def prepare(self, places: Places) -> None:
        """Make the folders around it: what a full or forbidding file system refuses, it refuses here."""
        if self.staged is not None:
            (places.root / self.directory).parent.mkdir(parents=True, exist_ok=True)
        if self.old is not None:
            (places.bookkeeping / self.old).parent.mkdir(parents=True, exist_ok=True)

    def do(self, places: Places) -> None:
        """Make it."""
        target = places.root / self.directory
        if self.old is None:
            move(places.bookkeeping / str(self.staged), target)
        elif self.staged is None:
            move(target, places.bookkeeping / self.old)
        else:
            replace(places.bookkeeping / self.staged, target, places.bookkeeping / self.old)

    def undo(self, places: Places) -> None:
        """Take it back, however far it has come. It may be taken back twice."""
        target = places.root / self.directory
        now = inode(target)
        if now == self.before:
            return
        if self.before is None:
            if now == self.after:
                move(target, places.bookkeeping / str(self.staged))
            return
        kept = self.kept(places)
        if now is None:
            move(kept, target)
        elif not exchange(kept, target):
            move(target, kept.with_name(f".{kept.name}.undone"))
            move(kept, target)

    def kept(self, places: Places) -> Path:
        """Where the old content is now.

        :raises StorageError: if it is nowhere.
        """
        aside = [places.bookkeeping / place for place in (self.old, self.staged) if place is not None]
        # It may be on its way from a place not yet looked at to one that was: then it is found the second time.
        for folder in 2 * [places.root / self.directory, *aside]:
            if inode(folder) == self.before:
                return folder
        raise StorageError(
            f"the old content of {places.root / self.directory} is gone; expected it at"
            f" {places.bookkeeping / str(self.old)}"
        )


@attrs.frozen
class Journal:
    """The commits that change several folders of a dataset, in files of their own.

    While such a commit moves folders, its file tells which: our readers see the old content until the file is renamed,
    which is the moment of the commit. What a killed process leaves is taken back by the next writer.

    :ivar places: where folders are moved.
    """

    places: Places

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.places.bookkeeping / COMMITS

    def file(self, number: int) -> Path:
        """The file of the commit *number*, while it is under way."""
        return self.folder / f"{number:020}{_PENDING}"

    def last_commit(self) -> int:
        """The greatest number of a commit that is told here; 0 if none is."""
        numbers = (name.partition(".")[0] for name in names(self.folder))
        return max((int(number) for number in numbers if number.isdigit()), default=0)

    def state(self) -> list[str]:
        """What differs whenever a commit began or ended since."""
        return names(self.folder)

    def pending(self) -> dict[str, Move]:
        """The moves that are under way, by directory."""
        return {move.directory: move for name in names(self.folder) for move in self._moves(name)}

    def begin(self, number: int, moves: Sequence[Move]) -> None:
        """Tell readers to look for the old content of *moves* until :meth:`end`."""
        self.folder.mkdir(exist_ok=True)
        form = json.dumps({"moves": [attrs.asdict(move) for move in moves]}, separators=(",", ":")).encode()
        for file in (_ended(self.file(number), _COPY), self.file(number)):
            write(file, form)

    def end(self, number: int) -> None:
        """Let the new content be seen, of all folders at once."""
        self.file(number).rename(_ended(self.file(number), _DONE))

    def recover(self) -> None:
        """Take back what a killed process left half done. The caller holds the storage's lock."""
        for name in names(self.folder):
            if name.endswith(_PENDING):
                for begun in reversed(self._moves(name)):
                    begun.undo(self.places)
                file = self.folder / name
                file.rename(_ended(file, _UNDONE))

    def removable(self, name: str) -> bool:
        """Whether *name* is that of a commit that has ended."""
        return name.endswith((_DONE, _UNDONE, _COPY))

    def _moves(self, name: str) -> list[Move]:
        """The moves of a file that are neither made for good nor taken back."""
        if not name.endswith(_PENDING):
            return []
        file = self.folder / name
        try:
            return _read(file)
        except FileNotFoundError:  # it has just ended
            return []
        except (ValueError, TypeError, KeyError) as error:
            try:
                return _read(_ended(file, _COPY))
            except (OSError, ValueError, TypeError, KeyError):
                raise StorageError(
                    f"{file} is damaged ({error!r}), and so is its copy, so nobody knows which partitions a commit was"
                    " changing when it was killed. These are in the newest folder of"
                    f" {self.places.bookkeeping / 'replaced'}, with their old content: compare them with"
                    f" {self.places.root}, move back what is to be, and remove the file; or restore it from a backup"
                ) from error


def _read(file: Path) -> list[Move]:
    return [Move(**fields) for fields in json.loads(file.read_text())["moves"]]


def _ended(file: Path, how: str) -> Path:
    return file.with_name(file.name.replace(_PENDING, how))


def inode(path: Path) -> int | None:
    """The number of the folder at *path*, ``None`` if there is none."""
    try:
        return path.stat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None
