"""Filters: conditions on the fields of a dataset, from Python, text or JSON.

.. code-block:: python

    from airflow_partitions.storage import Filter, field

    where = (field("airport") == "EWR") & field("date").between("2013-02-01", "2013-03-01")
    Filter.parse("airport == 'EWR' and '2013-02-01' <= date < '2013-03-01'") == where
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from keyword import iskeyword
from typing import Any, ClassVar, NoReturn
from unicodedata import is_normalized

import attrs

from airflow_partitions.core.errors import FilterError
from airflow_partitions.storage.filters.scalar import scalar
from airflow_partitions.storage.filters.text import form_of

#: Comparison and the one that holds exactly where it does not.
INVERSE: Mapping[str, str] = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<=", "in": "not in", "not in": "in",
}  # fmt: skip
#: The texts of comparisons with ``None``.
_NULL = {"==": "is None", "!=": "is not None"}
_DEEPEST = 100


class Filter(ABC):
    """A condition on the fields of a dataset. Combine filters with ``&``, ``|`` and ``~``."""

    @abstractmethod
    def __invert__(self) -> Filter: ...

    @abstractmethod
    def conditions(self) -> Iterator[Condition]:
        """All single conditions in it."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""

    @staticmethod
    def parse(text: str) -> Filter:
        """The filter written as *text*, such as ``airport in ('EWR', 'JFK') and not (delay < 3 or 1 <= hour < 5)``.

        ``str(filter)`` is such text.

        :raises FilterError: if it is no filter; the place is named.
        """
        form = form_of(text)
        try:
            return _from_json(form, 0)
        except FilterError as error:
            raise FilterError(f"filter {text[:200]!r}: {error}") from None

    @staticmethod
    def from_json(form: Any) -> Filter:
        """The filter whose :meth:`to_json` is *form*; ``{"not": form}`` is read too.

        :raises FilterError: if it is the form of no filter.
        """
        return _from_json(form, 0)

    def __and__(self, other: Filter) -> Filter:
        return And(flatten(And, (self, check_filter(other))))

    def __or__(self, other: Filter) -> Filter:
        return Or(flatten(Or, (self, check_filter(other))))

    def __bool__(self) -> NoReturn:
        raise FilterError(
            f"the filter {self} is neither true nor false; expected & | ~ instead of 'and', 'or', 'not', and"
            " parentheses around each comparison; for a range use field(…).between(low, high)"
        )


@attrs.frozen
class Condition(Filter):
    """A comparison of one field.

    :ivar field: its name.
    :ivar op: one of ``== != < <= > >= in`` and ``not in``.
    :ivar value: a number, text or bool, for ``in`` a tuple of them; dates, times and decimals are text. ``None`` with
        ``==`` and ``!=``: whether it is null.
    """

    field: str
    op: str = attrs.field(validator=attrs.validators.in_(tuple(INVERSE)))
    value: Any

    def __invert__(self) -> Condition:
        return attrs.evolve(self, op=INVERSE[self.op])

    def conditions(self) -> Iterator[Condition]:
        yield self

    def to_json(self) -> dict[str, Any]:
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {"field": self.field, "op": self.op, "value": value}

    def __str__(self) -> str:
        # Python takes identifiers that look alike for the same.
        plain = self.field.isidentifier() and not iskeyword(self.field) and is_normalized("NFKC", self.field)
        name = self.field if plain else f"field({self.field!r})"
        return f"{name} {_NULL[self.op]}" if self.value is None else f"{name} {self.op} {self.value!r}"


@attrs.frozen
class _Joined(Filter):
    word: ClassVar[str]
    parts: tuple[Filter, ...]

    def conditions(self) -> Iterator[Condition]:
        for part in self.parts:
            yield from part.conditions()

    def to_json(self) -> dict[str, Any]:
        return {self.word: [part.to_json() for part in self.parts]}

    def __str__(self) -> str:
        shown = (f"({part})" if isinstance(part, _Joined) else str(part) for part in self.parts)
        return f" {self.word} ".join(shown)


@attrs.frozen
class And(_Joined):
    """Holds where all of its *parts* do."""

    word = "and"

    def __invert__(self) -> Filter:
        return Or(tuple(~part for part in self.parts))


@attrs.frozen
class Or(_Joined):
    """Holds where one of its *parts* does."""

    word = "or"

    def __invert__(self) -> Filter:
        return And(tuple(~part for part in self.parts))


#: What holds nowhere, and everywhere.
NOTHING, EVERYTHING = Or(()), And(())


class Field:
    """A field of a dataset, to be compared: a dimension, a partition column, or a column of the files.

    ``field(name) == None`` asks whether it is null, ``!= None`` whether it is not.

    :param name: its name.
    """

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise FilterError(f"{name!r} is no field; expected a name such as 'airport'")
        self.name = name

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return Condition(self.name, "==", None if value is None else scalar(value))

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return Condition(self.name, "!=", None if value is None else scalar(value))

    def __lt__(self, value: Any) -> Condition:
        return Condition(self.name, "<", scalar(value))

    def __le__(self, value: Any) -> Condition:
        return Condition(self.name, "<=", scalar(value))

    def __gt__(self, value: Any) -> Condition:
        return Condition(self.name, ">", scalar(value))

    def __ge__(self, value: Any) -> Condition:
        return Condition(self.name, ">=", scalar(value))

    def isin(self, values: Iterable[Any]) -> Condition:
        """Whether it is one of *values*."""
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise FilterError(f"{self.name}.isin({values!r}): expected several values, such as ['EWR', 'JFK']")
        return Condition(self.name, "in", tuple(map(scalar, values)))

    def between(self, low: Any, high: Any) -> Filter:
        """From *low* up to, not including, *high*; ``None`` leaves a side open."""
        if low is None and high is None:
            raise FilterError(f"{self.name}.between(None, None) has no bound; expected at least one, or no filter")
        lower = () if low is None else (Condition(self.name, ">=", scalar(low)),)
        upper = () if high is None else (Condition(self.name, "<", scalar(high)),)
        return all_of(lower + upper)

    def __repr__(self) -> str:
        return f"field({self.name!r})"


def field(name: str) -> Field:
    """The field *name*, to be compared."""
    return Field(name)


def check_filter(where: Any) -> Filter:
    """*where*, if it is a filter."""
    if not isinstance(where, Filter):
        raise FilterError(f"{where!r} is no filter; expected one such as field('airport') == 'EWR'")
    return where


def flatten(kind: type[_Joined], parts: Iterable[Filter]) -> tuple[Filter, ...]:
    """*parts*, with those of the same *kind* taken apart."""
    return tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, kind) else (part,)))


def all_of(parts: Iterable[Filter]) -> Filter:
    """What holds where all of *parts* do."""
    flat = flatten(And, parts)
    return flat[0] if len(flat) == 1 else And(flat)


def _from_json(form: Any, depth: int) -> Filter:
    if depth > _DEEPEST:
        raise FilterError(f"the filter is nested more than {_DEEPEST} levels deep")
    match form:
        case {"field": str(name), "op": "in" | "not in" as op, "value": [*values], **rest} if not rest:
            return Condition(Field(name).name, op, tuple(map(scalar, values)))
        case {"field": str(name), "op": str(op), "value": value, **rest} if op in INVERSE and not rest:
            if op not in ("in", "not in"):
                null = value is None and op in _NULL
                return Condition(Field(name).name, op, None if null else scalar(value))
        case {"and": [_, *_] as parts, **rest} if not rest:
            return And(flatten(And, (_from_json(part, depth + 1) for part in parts)))
        case {"or": [_, *_] as parts, **rest} if not rest:
            return Or(flatten(Or, (_from_json(part, depth + 1) for part in parts)))
        case {"not": part, **rest} if not rest:
            return ~_from_json(part, depth + 1)
    raise FilterError(
        f"{str(form)[:200]!r} is not the form of a filter; expected for example"
        " {'field': 'airport', 'op': '==', 'value': 'EWR'}, or {'and': […]}, {'or': […]}, {'not': …}"
    )
