"""Partitions that become known while a task runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple, NoReturn, Protocol

from airflow_partitions.core.definitions.definition import MAX_KEY_LENGTH, Moment, PartitionDefinition, check_name
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, MissingPartitionError
from airflow_partitions.core.keys import Segment
from airflow_partitions.core.keys.keyed import key_of
from airflow_partitions.core.keys.value import from_json, own_value, read_value, text_of, to_json


class Addition(NamedTuple):
    """The addition of a key: the text of the key before it, if there is one, and its metadata."""

    previous: str | None
    metadata: Any


class KeyList(Protocol):
    """The keys of a definition, for a running task to read and to add to."""

    def add(self, definition: PartitionAtRuntime, keys: list[Segment], metadata: Any, *, once: bool) -> None: ...

    def remove(self, definition: PartitionAtRuntime, key: Segment) -> None: ...

    def texts(self, definition: PartitionAtRuntime) -> list[str]: ...


#: The list of the task that is running; its hook before execution sets it.
KEY_LIST: ContextVar[KeyList] = ContextVar("KEY_LIST")
#: Gives a product whose combinations are added at runtime with those that are on its list, in the task that is running;
#: its hook before execution sets it.
LISTED: ContextVar[Callable[[PartitionDefinition], PartitionDefinition]] = ContextVar("LISTED")
_TYPES = ("str", "int", "float", "date", "datetime", "time", "decimal", "uuid", "tuple", "key")


class PartitionAtRuntime(PartitionDefinition):
    """Partitions whose keys are added while a task runs, shared by all assets that use the same name.

    Text keys are written as they are; other types carry their name (``int:1``), so that 1 is not ``"1"``.

    .. code-block:: python

        active = PartitionAtRuntime(name="active_customers")

        @asset(schedule="@hourly", partition=active)
        def models():
            active.add_partitions(customers(), once=True)

        @asset(schedule=models, partition=active)      # runs once for every key added
        def predictions(partition): ...

    With *of*, the keys that are added are some of those of another definition, written as its own: which regions each
    tenant has. A product is made of them by ``PartitionByProduct([TENANTS, REGIONS, DAYS], only=TENANT_REGIONS)``.

    .. code-block:: python

        TENANT_REGIONS = PartitionAtRuntime("tenant_regions", of=PartitionByProduct([TENANTS, REGIONS]))
        TENANT_REGIONS.key(("acme", "eu"))  # "acme|eu"

    :param name: what the keys name, for example ``"active_customers"``.
    :param allowed: a regular expression that the whole text of a key has to match, for example
        ``r"[a-z0-9_]+"``; by default any printable text. A key that does not match is refused wherever it comes in:
        from a task, by hand, or with an event. The scheduler and the API server match it too, so keep it simple.
    :param of: a sequence, or a product of sequences, whose keys may be added; those of a product are given as text, by
        name, or as a tuple, which is their value. By default any value may be a key.
    :raises InvalidDefinitionError: if the name is no identifier, *allowed* no regular expression, or *of* has a time or
        keys at runtime.
    """

    kind = "runtime"
    #: The regular expression that the text of a key has to match; ``None`` for any text.
    allowed: str | None
    #: The definition whose keys may be added; ``None`` for any value.
    of: PartitionDefinition | None
    _allowed: re.Pattern[str] | None

    def __init__(self, name: str, *, allowed: str | None = None, of: PartitionDefinition | None = None) -> None:
        try:
            pattern = None if allowed is None else re.compile(allowed)
        except (re.error, TypeError) as error:
            raise InvalidDefinitionError(
                f"allowed={allowed!r} is no regular expression: {error}; expected for example r'[a-z0-9_]+'"
            ) from None
        if of is not None and not (isinstance(of, PartitionDefinition) and of.is_fixed):
            raise InvalidDefinitionError(
                f"of={of!r}; expected a definition without time whose keys are known: PartitionBySequence(…), or"
                " PartitionByProduct([…]) of several"
            )
        vars(self).update(name=check_name(name), allowed=allowed, of=of, _allowed=pattern)

    def add_partition(self, key: Any, metadata: Any = None, *, once: bool = False) -> None:
        """Add a *key*, from inside a task of an asset with this definition; its consumers run once for it.

        It counts when the task succeeds. With *once*, a key that any task has added before stays as it is, and nothing
        runs: a task that lists all there is at every tick should say so. Without, its consumers run again, and the key
        is the newest again.

        :param key: int, float, str, date, aware datetime, naive time, Decimal, UUID, tuple of these, or
            :class:`PartitionKey`.
        :param metadata: JSON to keep with the key, which consumers find in ``partition.metadata``.
        :param once: do nothing if the key is known already.
        :raises InvalidKeyError: if it can't be a key or is not allowed, or *metadata* is no JSON.
        :raises TooManyKeysError: if Airflow could not register the events of all keys of this task in time.
        :raises MissingPartitionError: outside such a task.
        """
        self.add_partitions([key], metadata, once=once)

    def add_partitions(self, keys: Iterable[Any], metadata: Any = None, *, once: bool = False) -> None:
        """Add several *keys* at once, each like :meth:`add_partition`; a key given twice is one."""
        wrapped = list(dict.fromkeys(map(self.key, keys)))
        try:
            json.dumps(metadata, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidKeyError(f"metadata {metadata!r} is no JSON: {error}", given=metadata) from None
        if wrapped:
            self._key_list.add(self, wrapped, metadata, once=once)

    def remove_partition(self, key: Any) -> None:
        """Take a *key* off the list, from inside a task that may add it. What was made for it stays.

        :raises InvalidKeyError: if it is not on the list.
        :raises MissingPartitionError: outside such a task.
        """
        self._key_list.remove(self, self.key(key))

    def partitions(self) -> list[Any]:
        """The keys that have been added and not removed, plain, the newest last; inside a task that adds or gets them.

        :raises MissingPartitionError: outside such a task.
        """
        return [self.parse(text).value for text in self._key_list.texts(self)]

    @property
    def _key_list(self) -> KeyList:
        key_list = KEY_LIST.get(None)
        if key_list is None:
            raise MissingPartitionError(
                f"{self!r}: partitions are added and listed inside a task of an asset that has them; none is running"
                " here"
            )
        return key_list

    def keys(self, start: Moment | None = None, end: Moment | None = None) -> NoReturn:
        raise InvalidDefinitionError(
            f"the keys of {self!r} are known only from what tasks added, not from the definition"
        )

    def count(self, start: Moment | None = None, end: Moment | None = None) -> NoReturn:
        self.keys()

    def key(self, value: Any) -> Segment:
        value = key_of(value)
        if self.of is not None:
            return self._key_of(self.of, value)
        if isinstance(value, Segment):
            value = value.value
        value = own_value(value)
        return self._segment(value, _text(value))

    def _key_of(self, of: PartitionDefinition, value: Any) -> Segment:
        """The key of a *value* that stands for a key of another definition."""
        names = tuple(of.dimensions)
        if isinstance(value, Segment):
            value = of.parse(value.text)
        elif len(names) > 1 and isinstance(value, tuple | list) and len(value) == len(names):
            value = dict(zip(names, value, strict=True))
        key = of.key(value)
        parts = tuple(part.value for part in of.dimensions_of(key).values() if isinstance(part, Segment))
        return self._segment(parts if len(names) > 1 else parts[0], str(key))

    def _segment(self, value: Any, text: str) -> Segment:
        if len(text) > MAX_KEY_LENGTH:
            raise InvalidKeyError(
                f"key {text[:40]!r}… has {len(text)} characters; expected at most {MAX_KEY_LENGTH}", given=value
            )
        if self._allowed is not None and not self._allowed.fullmatch(text):
            raise InvalidKeyError(
                f"key {text!r} is not allowed; the keys of {self.name!r} match {self.allowed}", given=value
            )
        return Segment(value, text)

    def allows(self, text: str) -> bool:
        """Whether *text* is that of a key that may be added."""
        if self._allowed is not None and not self._allowed.fullmatch(text):
            return False
        try:
            return self.of is None or str(self.of.parse(text)) == text
        except InvalidKeyError:
            return False

    def parse(self, text: str) -> Segment:
        if not isinstance(text, str):
            raise InvalidKeyError(f"{text!r} is not text; expected one such as 'int:1' for the key 1", given=text)
        if self.of is not None:
            return self._key_of(self.of, self.of.parse(text))
        kind, colon, rest = text.partition(":")
        if not colon or kind not in _TYPES:
            return self.key(text)
        try:
            return self.key(_value(kind, rest))
        except (ValueError, TypeError, ArithmeticError) as error:
            raise InvalidKeyError(f"{text!r} is not a key of {self!r}: {error}", given=text) from None

    def previous(self, key: Any) -> Segment | None:
        return None

    def next(self, key: Any) -> Segment | None:
        return None

    def to_json(self) -> dict[str, Any]:
        form = {"kind": self.kind, "name": self.name, "allowed": self.allowed}
        return form if self.of is None else form | {"of": self.of.to_json()}

    def __repr__(self) -> str:
        allowed = "" if self.allowed is None else f", allowed={self.allowed!r}"
        of = "" if self.of is None else f", of={self.of!r}"
        return f"PartitionAtRuntime(name={self.name!r}{allowed}{of})"

    def __iter__(self) -> Iterator[Segment]:
        self.keys()


def _text(value: Any) -> str:
    plain = text_of(value)
    if isinstance(value, str):
        return f"str:{value}" if value.partition(":")[0] in _TYPES and ":" in value else value
    form = to_json(value)
    if form[0] not in ("tuple", "key"):
        return f"{form[0]}:{plain}"
    return f"{form[0]}:{json.dumps(form[1:], separators=(',', ':'), ensure_ascii=False)}"


def _value(kind: str, rest: str) -> Any:
    return from_json([kind, *json.loads(rest)]) if kind in ("tuple", "key") else read_value(kind, rest)
