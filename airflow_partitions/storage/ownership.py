"""Ownership of a dataset's files: what may be written, and what may be removed."""

from __future__ import annotations

from enum import Enum

from airflow_partitions.core.errors import InvalidDefinitionError


class Ownership(str, Enum):
    """Whose the files of a dataset are.

    :cvar OWNED: ours; a dataset that holds files of others is refused.
    :cvar READ_ONLY: someone else's: they are read, nothing is written beside them.
    :cvar ADD_ONLY: someone else's, but partitions may be added; what was there before is never removed.
    :cvar ADOPTED: ours from now on, those that are there already too.
    """

    OWNED = "owned"
    READ_ONLY = "read-only"
    ADD_ONLY = "add-only"
    ADOPTED = "adopted"

    __str__ = str.__str__


def ownership_of(value: Ownership | str) -> Ownership:
    """The ownership that *value* names.

    :raises InvalidDefinitionError: if it names none.
    """
    try:
        return Ownership(value)
    except ValueError:
        expected = ", ".join(repr(each.value) for each in Ownership)
        raise InvalidDefinitionError(f"ownership={value!r}; expected one of: {expected}") from None
