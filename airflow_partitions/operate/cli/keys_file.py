"""Keys that a file lists, one a line."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentTypeError, Namespace
from pathlib import Path

import attrs

from airflow_partitions.core.errors import PartitionError

_PLACE = re.compile(r"\bkeys\[(\d+)\]")


@attrs.frozen
class KeysFile:
    """The keys in a file.

    :ivar name: of the file; ``-`` for the standard input.
    :ivar lines: the keys by the numbers of their lines, counted from 1.
    """

    name: str
    lines: dict[int, str]

    @classmethod
    def read(cls, name: str) -> KeysFile:
        """The file of that *name*; blank lines, and those that begin with ``#``, are left out.

        :raises ArgumentTypeError: if it can't be read, or has no key.
        """
        try:
            text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:
            raise ArgumentTypeError(f"{name}: {error}; expected a file of text with one key a line") from None
        stripped = {number: line.strip() for number, line in enumerate(text.splitlines(), 1)}
        lines = {number: line for number, line in stripped.items() if line and not line.startswith("#")}
        if not lines:
            raise ArgumentTypeError(f"{name} has no key; expected one a line")
        return cls(name, lines)

    @property
    def keys(self) -> list[str]:
        """The keys, in order."""
        return list(self.lines.values())

    def with_lines(self, words: str) -> str:
        """*words* about the keys, with lines for places in the list."""
        numbers, name = list(self.lines), "standard input" if self.name == "-" else self.name
        return _PLACE.sub(lambda place: f"line {numbers[int(place[1])]} of {name}", words)


def words_of(error: PartitionError, args: Namespace) -> str:
    """An *error* in words: where it is about keys of a file, with their lines."""
    file: KeysFile | None = getattr(args, "keys", None)
    return str(error) if file is None else file.with_lines(str(error))
