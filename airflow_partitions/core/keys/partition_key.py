"""Keys made of several named, typed fields."""

from __future__ import annotations

import types
from collections.abc import Collection
from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeGuard, Union, get_args, get_origin, get_type_hints
from weakref import WeakSet, ref

from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError

if TYPE_CHECKING:
    from typing_extensions import Self

# What a key class may define beside its fields. Everything else with two underscores could run code when keys are
# made, compared, hashed, copied or unpickled, in processes that must not run authors' code.
_ALLOWED_NAMES = frozenset(
    {
        "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__conditional_annotations__",
        "__classcell__", "__classdictcell__", "__doc__", "__firstlineno__", "__module__", "__qualname__",
        "__static_attributes__", "__str__",
    }
)  # fmt: skip
_FIELD_TYPES = (int, float, str, date, datetime, tuple)
# What Python makes of "def" in a class; a subclass of one could run code when it is named or looked up.
_METHOD_TYPES = (types.FunctionType, property, staticmethod, classmethod)
# The classes whose bodies were checked: type.__new__(PartitionKeyMeta, …) makes one that was not.
_CHECKED: WeakSet[type] = WeakSet()
# Those that this process has, by name and fields, the newest last: a file that is read again makes its class again.
_AUTHORS_CLASSES: dict[tuple[str, tuple[str, ...]], list[ref[PartitionKeyMeta]]] = {}


class PartitionKeyMeta(type):
    """Lets a key class hold annotated immutable fields and plain methods; refuses every hook that runs by itself."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> PartitionKeyMeta:
        if not any(isinstance(base, PartitionKeyMeta) for base in bases):
            root = super().__new__(mcs, name, bases, {**namespace, "__slots__": ("_values",)})
            _CHECKED.add(root)
            return root
        if len(bases) != 1 or bases[0] not in _CHECKED or kwargs:
            raise InvalidDefinitionError(f"{name}: a PartitionKey class has PartitionKey as its only base, no options")
        inherited: tuple[tuple[str, Any], ...] = getattr(bases[0], "_fields", ())
        for attribute, value in namespace.items():
            _check_attribute(name, attribute, value, dict(inherited))
        cls = super().__new__(mcs, name, bases, {**namespace, "__slots__": ()})
        cls._fields = (*inherited, *_checked_fields(cls, dict(inherited)))
        if not cls._fields:
            raise InvalidDefinitionError(f"{name} has no fields; expected at least one annotation such as 'x: float'")
        _CHECKED.add(cls)
        if cls.__module__ != __name__:
            older = _AUTHORS_CLASSES.get((name, cls.fields()), [])
            _AUTHORS_CLASSES[name, cls.fields()] = [*(each for each in older if each() is not None), ref(cls)]
        return cls

    _fields: tuple[tuple[str, Any], ...] = ()

    def __init_subclass__(cls) -> None:
        raise InvalidDefinitionError(f"{cls.__name__}: the metaclass of PartitionKey is final")

    def __setattr__(cls, name: str, value: object) -> None:
        if name != "_fields" or cls.__dict__.get("_fields"):
            raise InvalidDefinitionError(f"{cls.__name__} is frozen; {name!r} can't be set on it")
        super().__setattr__(name, value)

    def __delattr__(cls, name: str) -> NoReturn:
        raise InvalidDefinitionError(f"{cls.__name__} is frozen; {name!r} can't be removed from it")

    def fields(cls) -> tuple[str, ...]:
        """Names of the fields, in the declared order."""
        return tuple(name for name, _ in cls._fields)

    def fits(cls, fields: dict[str, Any]) -> bool:
        """Whether the values of the class's *fields* are of their types, without being converted."""
        return all(any(_fits(option, fields[name]) for option in _options(kind)) for name, kind in cls._fields)


class PartitionKey(metaclass=PartitionKeyMeta):
    """Base class of keys with several fields.

    .. code-block:: python

        class Position(PartitionKey):
            x: float
            y: float


        Position(x=1.0, y=2.0)  # canonical text: x=1.0,y=2.0

    Fields are annotated with int, float, str, date, datetime, a tuple or another ``PartitionKey``. Keys are frozen,
    ordered and hashable by their fields. A class may define ``__str__``, which is used for display where the class
    itself is at hand and nowhere else; any other special method, and any default value, is refused when the class is
    made, because it could run code in the scheduler or the API server.

    :raises InvalidKeyError: when made with missing, unknown or wrongly typed fields.
    """

    _values: tuple[Any, ...]
    _fields: ClassVar[tuple[tuple[str, Any], ...]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        names = cls.fields()
        arguments = dict(zip(names, args, strict=False)) | kwargs
        if len(args) > len(names) or len(arguments) != len(args) + len(kwargs) or set(arguments) != set(names):
            raise InvalidKeyError(
                f"{cls.__name__} got {[*args, *kwargs]}; expected exactly the fields {', '.join(names)}"
            )
        key = object.__new__(cls)
        values = tuple(_converted(cls.__name__, name, kind, arguments[name]) for name, kind in cls._fields)
        object.__setattr__(key, "_values", values)
        return key

    @classmethod
    def make(cls, name: str, fields: dict[str, Any]) -> PartitionKey:
        """A key of the author's class called *name*, where this process has one with these *fields*.

        Elsewhere, as in the scheduler and the API server, it is one of a class with these fields and nothing else.
        """
        authors = (each() for each in reversed(_AUTHORS_CLASSES.get((name, tuple(fields)), [])))
        author = next((each for each in authors if each is not None and each.fits(fields)), None)
        if author is None:
            author = _bare_class(name, tuple((field, type(value)) for field, value in fields.items()))
        key: PartitionKey = author(**fields)
        return key

    def __getattr__(self, name: str) -> Any:
        names = type(self).fields()
        if name in names:
            return self._values[names.index(name)]
        raise AttributeError(f"{type(self).__name__} has no field {name!r}; it has: {', '.join(names)}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen; {name!r} can't be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen; {name!r} can't be removed")

    def __repr__(self) -> str:
        pairs = zip(type(self).fields(), self._values, strict=True)
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._values

    @property
    def _identity(self) -> tuple[Any, ...]:
        """What equality goes by: texts of datetimes, because Python calls different ones equal."""
        return type(self).__name__, type(self).fields(), tuple(map(_identity, self._values))

    def __eq__(self, other: object) -> bool:
        return self._identity == other._identity if isinstance(other, PartitionKey) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity)

    def __lt__(self, other: object) -> bool:
        return self._values < other._values if isinstance(other, PartitionKey) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self == other or self < other

    def __gt__(self, other: object) -> bool:
        return self._values > other._values if isinstance(other, PartitionKey) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self == other or self > other


@lru_cache(maxsize=1000)
def _bare_class(name: str, fields: tuple[tuple[str, type], ...]) -> PartitionKeyMeta:
    return PartitionKeyMeta(name, (PartitionKey,), {"__annotations__": dict(fields), "__module__": __name__})


def is_partition_key(value: object) -> TypeGuard[PartitionKey]:
    """Whether *value* is a key of a :class:`PartitionKey` class."""
    return type(value) in _CHECKED


def _identity(value: Any) -> Any:
    """Something that is equal for values with the same text only."""
    if type(value) is tuple:
        return tuple(map(_identity, value))
    return type(value).__name__, value.isoformat() if isinstance(value, date) else value


def _check_attribute(owner: str, attribute: str, value: object, inherited: Collection[str]) -> None:
    special = attribute.startswith("__") and attribute.endswith("__")
    if special and attribute not in _ALLOWED_NAMES:
        raise InvalidDefinitionError(
            f"{owner}.{attribute} is not allowed: it could run code in the scheduler or the API server;"
            " a PartitionKey class has annotated fields, plain methods and, for display, __str__"
        )
    if not special and type(value) not in _METHOD_TYPES:
        raise InvalidDefinitionError(
            f"{owner}.{attribute} = {value!r} is not a field; write '{attribute}: {type(value).__name__}'"
            " and give the value when a key is made"
        )
    if not special and (hasattr(PartitionKey, attribute) or attribute in inherited):
        raise InvalidDefinitionError(f"{owner}.{attribute} would hide what PartitionKey or a field is; rename it")


def _checked_fields(cls: PartitionKeyMeta, inherited: Collection[str]) -> list[tuple[str, Any]]:
    from inspect import get_annotations  # half the weight of importing this package

    fields = []
    try:
        hints = get_type_hints(cls)
    except NameError as error:
        raise InvalidDefinitionError(f"{cls.__name__}: {error}; expected types known where the class is made") from None
    for name in get_annotations(cls):
        if name.startswith("_") or name in inherited or hasattr(cls, name):
            raise InvalidDefinitionError(
                f"{cls.__name__}.{name}: expected a field name of its own, without underscore, value or method"
            )
        kind = hints[name]
        if not all(_is_immutable(option) for option in _options(kind)):
            raise InvalidDefinitionError(
                f"{cls.__name__}.{name} has type {kind!r}; expected int, float, str, date, datetime, tuple or a"
                " PartitionKey class, none of which can change"
            )
        fields.append((name, kind))
    return fields


def _options(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _is_immutable(kind: Any) -> bool:
    if get_origin(kind) is tuple:
        return all(item is ... or _is_immutable(item) for item in get_args(kind))
    return kind in _CHECKED if isinstance(kind, PartitionKeyMeta) else kind in _FIELD_TYPES


def _converted(owner: str, name: str, kind: Any, value: Any) -> Any:
    options = _options(kind)
    if float in options and type(value) is int and int not in options:
        try:
            value = float(value)  # 1 and 1.0 are one coordinate, and need one text
        except OverflowError:
            raise InvalidKeyError(f"{owner}.{name} got an int too large for a float", given=value) from None
    if type(value) is float and float in options:
        return value + 0.0  # neither can 0.0 and -0.0 be told apart
    if any(_fits(option, value) for option in options):
        return value
    expected = " or ".join(
        getattr(option, "__name__", "") if option in _FIELD_TYPES else str(option) for option in options
    )
    raise InvalidKeyError(f"{owner}.{name} got {value!r} of type {type(value).__name__}; expected {expected}")


def _fits(kind: Any, value: Any) -> bool:
    """Whether *value* is of the type itself: a subclass could bring code that runs when keys are compared."""
    if isinstance(kind, PartitionKeyMeta):
        return isinstance(value, kind)
    if get_origin(kind) is not tuple:
        return type(value) is kind and (kind is not tuple or all(_fits_some(item) for item in value))
    items = get_args(kind)
    if items[-1:] == (...,):
        items = items[:1] * len(value) if type(value) is tuple else ()
    return type(value) is tuple and len(value) == len(items) and all(map(_fits, items, value))


def _fits_some(value: Any) -> bool:
    return any(_fits(kind, value) for kind in (*_FIELD_TYPES, PartitionKey))
