"""Keys of a product: one part per dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, final

from airflow_partitions.core.keys.frozen import Frozen
from airflow_partitions.core.keys.interval import Interval
from airflow_partitions.core.keys.segment import Segment
from airflow_partitions.core.versions import check_version

if TYPE_CHECKING:
    from typing_extensions import Self


class _OpenProductKey:
    __slots__ = ("_names", "_parts")

    _names: tuple[str, ...]
    _parts: tuple[Interval | Segment, ...]


@final
class ProductKey(_OpenProductKey, Frozen, Mapping[str, Any]):
    """A mapping from dimension name to that dimension's :class:`Interval` or plain value, in the declared order.

    ``str()`` joins the parts by ``|``; ``|`` and ``\\`` inside a part are escaped by ``\\``.
    """

    __slots__ = ()
    __version__: ClassVar[int] = 1

    def __new__(cls, names: tuple[str, ...], parts: tuple[Interval | Segment, ...]) -> Self:
        key: Any = _OpenProductKey()
        key._names, key._parts = names, parts  # noqa: SLF001
        key.__class__ = cls
        return key  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return ProductKey, (self._names, self._parts)

    @property
    def parts(self) -> tuple[Interval | Segment, ...]:
        """The dimensions' keys, wrapped, in the declared order."""
        return self._parts

    @property
    def wrapped(self) -> Mapping[str, Interval | Segment]:
        """The dimensions' keys, wrapped, by name."""
        return dict(zip(self._names, self._parts, strict=True))

    def serialize(self) -> dict[str, Any]:
        """What Airflow keeps of it in an XCom; its parts are serialized in their turn."""
        return {"names": list(self._names), "parts": list(self._parts)}

    @classmethod
    def deserialize(cls, data: dict[str, Any], version: int) -> ProductKey:
        """The inverse of :meth:`serialize`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version({"version": version}, cls.__version__, "a key of a product")
        return cls(tuple(data["names"]), tuple(data["parts"]))

    def __getitem__(self, name: str) -> Any:
        try:
            part = self._parts[self._names.index(name)]
        except ValueError:
            raise KeyError(f"no dimension {name!r}; there are: {', '.join(self._names)}") from None
        return part.value if isinstance(part, Segment) else part

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __str__(self) -> str:
        return "|".join([str(part).replace("\\", "\\\\").replace("|", "\\|") for part in self._parts])

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"ProductKey({', '.join(f'{n}={p!r}' for n, p in self.items())})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProductKey):
            return NotImplemented
        return self._parts == other._parts and self._names == other._names

    def __hash__(self) -> int:
        return hash(self._parts)


def split_parts(text: str) -> list[str]:
    """The parts of a product key's text, unescaped."""
    parts, current, escaped = [], "", False
    for char in text:
        if escaped:
            current, escaped = current + (char if char in "|\\" else "\\" + char), False
        elif char == "\\":
            escaped = True
        elif char == "|":
            parts.append(current)
            current = ""
        else:
            current += char
    return [*parts, current + "\\" if escaped else current]
