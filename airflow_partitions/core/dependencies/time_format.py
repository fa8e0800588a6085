"""Formats of times, for writing and for reading."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cached_property

import attrs

_DIRECTIVE = re.compile(r"(%.|\{quarter\})")
_DIGITS = {"%Y": 4, "%G": 4, "%j": 3, "%u": 1, "{quarter}": 1, **dict.fromkeys(("%m", "%d", "%H", "%M", "%S", "%V"), 2)}


@attrs.frozen(slots=False)
class TimeFormat:
    """A format as for ``strftime``, in which ``{quarter}`` is the number of the quarter.

    A quarter is read as its first month. The week (``%V``) is read as its Monday beside the ISO year (``%G``), and says
    nothing beside month and day.
    """

    format: str

    def write(self, moment: datetime) -> str:
        """The text of *moment*."""
        return moment.strftime(self.format).replace("{quarter}", str((moment.month + 2) // 3))

    def read(self, text: str) -> datetime:
        """The first moment that is written as *text*; naive if the format has no offset.

        :raises ValueError: if none is.
        :raises TypeError: if it is no text.
        """
        if "%V" not in self.format and "{quarter}" not in self.format:  # strptime knows the others
            return datetime.strptime(text, self.format)  # noqa: DTZ007 - who reads it knows the zone
        match = self._pattern.fullmatch(text)
        if match is None:
            raise ValueError(f"expected a time written as {self.format!r}")
        parts = dict(zip(self._directives, match.groups(), strict=True))
        if quarter := parts.pop("{quarter}", None):
            parts["%m"] = str(3 * int(quarter) - 2)
        if "%G" in parts:
            parts.setdefault("%u", "1")
        else:
            parts.pop("%V", None)
        return datetime.strptime(" ".join(parts.values()), " ".join(parts))  # noqa: DTZ007

    @cached_property
    def _directives(self) -> list[str]:
        return _DIRECTIVE.findall(self.format)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = _DIRECTIVE.split(self.format)  # every second one is a directive
        for i, part in enumerate(parts):
            digits = rf"(\d{{{_DIGITS[part]}}})" if part in _DIGITS else "(.+?)"
            parts[i] = digits if i % 2 else re.escape(part)
        return re.compile("".join(parts))
