"""Segments: keys that name a value instead of a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, final

from airflow_partitions.core.keys.frozen import Frozen
from airflow_partitions.core.keys.value import Value, from_json, own_value, text_of, to_json
from airflow_partitions.core.versions import check_version

if TYPE_CHECKING:
    from typing_extensions import Self


class _OpenSegment:
    __slots__ = ("text", "value")

    value: Value
    text: str


@final
class Segment(_OpenSegment, Frozen):
    """A segment's *value* and its canonical *text*. Two segments are the same if value types and texts agree.

    Plain values are wrapped and unwrapped by the definitions; authors rarely meet this class.
    """

    __slots__ = ()
    __version__: ClassVar[int] = 1

    def __new__(cls, value: Value, text: str) -> Self:
        segment: Any = _OpenSegment()
        segment.value, segment.text = value, text
        segment.__class__ = cls
        return segment  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return Segment, (self.value, self.text)

    @classmethod
    def of(cls, value: Value) -> Segment:
        """Wrap a plain *value*, in the form in which it comes back from JSON.

        :raises InvalidKeyError: if the value is not immutable data of a supported type.
        """
        own = own_value(value)
        return cls(own, text_of(own))

    def serialize(self) -> dict[str, Any]:
        """What Airflow keeps of it in an XCom."""
        return {"value": to_json(self.value), "text": self.text}

    @classmethod
    def deserialize(cls, data: dict[str, Any], version: int) -> Segment:
        """The inverse of :meth:`serialize`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version({"version": version}, cls.__version__, "a segment")
        return cls(from_json(data["value"]), data["text"])

    @property
    def identity(self) -> tuple[str, str]:
        """The identity of a segment: the value's type and its text."""
        return type(self.value).__name__, self.text

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"Segment({self.value!r})"

    def __eq__(self, other: object) -> bool:
        return self.identity == other.identity if isinstance(other, Segment) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.identity)
