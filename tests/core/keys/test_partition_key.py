"""The classes authors make for keys of several fields, and everything such a class can't do."""

from __future__ import annotations

import enum
import gc
from contextlib import suppress
from datetime import UTC, date, datetime
from operator import ge, gt, le, lt
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest

from airflow_partitions import PartitionAtRuntime, PartitionBySequence, PartitionKey, SegmentMap
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Segment
from airflow_partitions.core.keys.partition_key import PartitionKeyMeta
from airflow_partitions.core.keys.value import text_of


class Position(PartitionKey):
    x: float
    y: float
    z: float

    def __str__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"

    def length(self) -> float:
        return abs(self.x) + abs(self.y) + abs(self.z)


class Region(enum.StrEnum):
    EU = "eu"


class Bad:
    pass


def test_a8_a_key_class() -> None:
    key = Position(1, y=2.5, z=-1)
    assert (key.x, key.y, key.z) == (1.0, 2.5, -1.0)
    assert str(key) == "(1.0, 2.5, -1.0)"
    assert repr(key) == "Position(x=1.0, y=2.5, z=-1.0)"
    assert key.length() == 4.5
    assert key == Position(1.0, 2.5, -1.0)
    assert key < Position(1, 2.5, 0)
    assert len({key, Position(1.0, 2.5, -1.0)}) == 1
    assert Position.fields() == ("x", "y", "z")
    assert str(next(PartitionBySequence([key]).keys())) == "x=1.0,y=2.5,z=-1.0"


def test_a8_a_key_class_adds_fields_to_another() -> None:
    class Moment(Position):
        at: date

    key = Moment(1, 2, 3, date(2013, 1, 1))
    assert Moment.fields() == ("x", "y", "z", "at")
    assert str(Segment.of(key)) == "x=1.0,y=2.0,z=3.0,at=2013-01-01"
    assert key != Position(1, 2, 3)


def test_a8_keys_and_their_classes_are_frozen() -> None:
    key = Position(1, 2, 3)
    with pytest.raises(AttributeError, match="Position is frozen; 'x' can't be set"):
        key.x = 5
    with pytest.raises(AttributeError, match="'x' can't be removed"):
        del key.x
    with pytest.raises(InvalidDefinitionError, match="Position is frozen; '__eq__'"):
        Position.__eq__ = lambda self, other: True  # type: ignore[assignment,method-assign]
    with pytest.raises(AttributeError, match="no field 'w'; it has: x, y, z"):
        key.w  # noqa: B018


@pytest.mark.parametrize(
    ("args", "kwargs"), [((1, 2), {}), ((1, 2, 3, 4), {}), ((1, 2, 3), {"x": 1}), ((1, 2), {"w": 3}), ((), {})]
)
def test_a8_a_key_needs_exactly_its_fields(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with pytest.raises(InvalidKeyError, match=r"Position got \[.*\]; expected exactly the fields x, y, z"):
        Position(*args, **kwargs)


@pytest.mark.parametrize("value", ["1", None, True, [1.0], Position(1, 2, 3)])
def test_a8_a_field_has_its_type(value: Any) -> None:
    with pytest.raises(InvalidKeyError, match=r"Position.x got .* of type \w+; expected float"):
        Position(value, 2, 3)


def test_a8_tuples_hold_only_what_can_not_change() -> None:
    class Path(PartitionKey):
        steps: tuple[int, ...]
        ends: tuple[str, date]
        rest: tuple  # type: ignore[type-arg]

    assert Path((1, 2), ("a", date(2013, 1, 1)), ("x", 1, (2,))).steps == (1, 2)
    for field, value in (("steps", (1, "2")), ("ends", ("a",)), ("rest", ([],)), ("rest", (Bad(),)), ("steps", [1])):
        good: dict[str, Any] = {"steps": (), "ends": ("a", date(2013, 1, 1)), "rest": ()}
        with pytest.raises(InvalidKeyError, match=rf"Path.{field} got .*; expected tuple"):
            Path(**{**good, field: value})


def test_a8_a_date_field_takes_no_datetime_and_a_text_field_no_enum() -> None:
    class Event(PartitionKey):
        name: str
        day: date

    with pytest.raises(InvalidKeyError, match=r"Event.day got .* expected date"):
        Event("a", datetime(2013, 1, 1))  # noqa: DTZ001
    with pytest.raises(InvalidKeyError, match=r"Event.name got .* expected str"):
        Event(Region.EU, date(2013, 1, 1))


HOOKS = (
    "__init__", "__new__", "__eq__", "__ne__", "__lt__", "__hash__", "__bool__", "__len__", "__iter__", "__contains__",
    "__repr__", "__format__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__",
    "__getnewargs_ex__", "__copy__", "__deepcopy__", "__replace__", "__setattr__", "__delattr__", "__getattr__",
    "__getattribute__", "__get__", "__set__", "__set_name__", "__init_subclass__", "__class_getitem__", "__post_init__",
    "__del__", "__call__", "__enter__", "__slots__", "__class__", "__dict__", "__index__", "__int__", "__fspath__",
    "__instancecheck__", "__prepare__", "__attrs_post_init__", "__get_pydantic_core_schema__", "__json__",
)  # fmt: skip


@pytest.mark.parametrize("hook", HOOKS)
def test_a8_a_key_class_with_a_hook_is_refused(hook: str) -> None:
    def run(self: Any, *_: Any) -> Any:
        raise AssertionError("an author's code ran")

    with pytest.raises(
        InvalidDefinitionError, match=rf"Evil.{hook} is not allowed: it could run code .* annotated fields"
    ):
        PartitionKeyMeta("Evil", (PartitionKey,), {"__annotations__": {"x": int}, hook: run})


class Descriptor:
    def __get__(self, instance: object, owner: type) -> int:
        raise AssertionError("an author's code ran")

    def __set_name__(self, owner: type, name: str) -> None:
        raise AssertionError("an author's code ran")


@pytest.mark.parametrize(
    ("namespace", "problem"),
    [
        ({"__annotations__": {"x": int}, "x": 5}, "Evil.x = 5 is not a field; write 'x: int'"),
        (
            {"__annotations__": {"x": int}, "x": property(lambda self: 5)},
            "Evil.x: expected a field name of its own, without .* value",
        ),
        ({"__annotations__": {"x": int}, "x": lambda self: 5}, "Evil.x: expected a field name of its own"),
        ({"__annotations__": {"x": int}, "y": Descriptor()}, "Evil.y = .* is not a field"),
        ({"y": 5}, "Evil.y = 5 is not a field; write 'y: int' and give the value when a key is made"),
        ({"__annotations__": {"x": int}, "_values": lambda self: 5}, "Evil._values would hide"),
        ({"__annotations__": {"x": int}, "make": lambda self: 5}, "Evil.make would hide"),
        ({"__annotations__": {"_x": int}}, "Evil._x: expected a field name"),
        ({"__annotations__": {"make": int}}, "Evil.make: expected a field name of its own"),
        ({"__annotations__": {"x": list}}, "Evil.x has type <class 'list'>; expected int, float, str"),
        ({"__annotations__": {"x": dict[str, int]}}, r"Evil.x has type dict\[str, int\]; expected"),
        ({"__annotations__": {"x": tuple[list[int], ...]}}, "Evil.x has type tuple"),
        ({"__annotations__": {"x": int | None}}, "Evil.x has type int | None; expected"),
        ({"__annotations__": {"x": bool}}, "Evil.x has type <class 'bool'>"),
        ({"__annotations__": {"x": object}}, "Evil.x has type <class 'object'>"),
        ({"__annotations__": {"x": ClassVar[int]}}, "Evil.x has type"),
        ({"__annotations__": {"x": "Unknown"}}, "Evil: name 'Unknown' is not defined; expected types known"),
        ({}, "Evil has no fields; expected at least one annotation such as 'x: float'"),
    ],
)
def test_a8_what_a_key_class_can_not_hold(namespace: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidDefinitionError, match=problem.replace(" | ", r" \| ")):
        PartitionKeyMeta("Evil", (PartitionKey,), namespace)


def test_a8_what_a_key_class_can_not_hide() -> None:
    for namespace in ({"x": property(lambda self: 5)}, {"x": lambda self: 5}, {"__annotations__": {"x": float}}):
        with pytest.raises(InvalidDefinitionError, match=r"Evil.x"):
            PartitionKeyMeta("Evil", (Position,), namespace)
    with pytest.raises(InvalidDefinitionError, match=r"Evil.length: expected a field name of its own"):
        PartitionKeyMeta("Evil", (Position,), {"__annotations__": {"length": int}})


def test_a8_a_key_class_has_one_base_and_no_metaclass_of_its_own() -> None:
    with pytest.raises(InvalidDefinitionError, match="Evil: a PartitionKey class has PartitionKey as its only base"):

        class Evil(PartitionKey, Bad):
            x: int

    with pytest.raises(InvalidDefinitionError, match="Meta: the metaclass of PartitionKey is final"):

        class Meta(PartitionKeyMeta):
            pass


class NamedProperty(property):
    def __set_name__(self, owner: type, name: str) -> None:
        raise AssertionError("an author's code ran")


class GettingMethod(classmethod):  # type: ignore[type-arg]
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        raise AssertionError("an author's code ran")


@pytest.mark.parametrize("method", [NamedProperty(lambda self: 1), GettingMethod(lambda cls: 1)])
def test_er16_a_subclass_of_a_kind_of_method_is_no_method(method: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match=r"Evil.m = .* is not a field"):
        PartitionKeyMeta("Evil", (PartitionKey,), {"__annotations__": {"x": int}, "m": method})


def test_er16_a_class_made_past_the_check_has_no_keys() -> None:
    def init(self: Any, x: int) -> None:
        object.__setattr__(self, "_values", (x,))

    namespace = {"__slots__": (), "_fields": (("x", int),), "__init__": init}
    evil = type.__new__(PartitionKeyMeta, "Evil", (PartitionKey,), namespace)
    with pytest.raises(InvalidKeyError, match="can't be a key"):
        Segment.of(evil(1))
    with pytest.raises(InvalidDefinitionError, match=r"Outer.inner has type .*; expected int"):
        PartitionKeyMeta("Outer", (PartitionKey,), {"__annotations__": {"inner": evil}})
    with pytest.raises(InvalidDefinitionError, match="Heir: a PartitionKey class has PartitionKey as its only base"):
        PartitionKeyMeta("Heir", (evil,), {})


def test_er16_a_method_of_a_key_class_can_not_be_removed() -> None:
    with pytest.raises(InvalidDefinitionError, match="Position is frozen; '__str__' can't be removed from it"):
        del Position.__str__
    with pytest.raises(InvalidDefinitionError, match="PartitionKey is frozen; '__hash__'"):
        del PartitionKey.__hash__


class Corner(PartitionKey):
    """No other test has a class of this name: of several the newest counts."""

    x: float
    y: float

    def length(self) -> float:
        return abs(self.x) + abs(self.y)


def test_er7_a_key_comes_back_as_one_of_the_authors_class_where_the_process_has_it() -> None:
    definition = PartitionAtRuntime(name="corners")
    back = definition.parse(definition.key(Corner(1, 2)).text).value
    assert type(back) is Corner
    assert back.length() == 3


def test_er7_a_class_that_is_gone_or_has_other_types_does_not_hide_the_authors() -> None:
    def make(kind: type) -> type:
        annotations = {"x": kind, "y": kind}
        return PartitionKeyMeta("Corner", (PartitionKey,), {"__module__": "dags", "__annotations__": annotations})

    make(float)
    gc.collect()
    other = make(str)
    definition = PartitionAtRuntime(name="corners")
    assert type(definition.parse(definition.key(Corner(1, 2)).text).value) is Corner
    assert type(definition.parse(definition.key(other("a", "b")).text).value) is other


def test_er7_elsewhere_or_if_the_class_has_other_fields_now_the_fields_come_back() -> None:
    definition = PartitionAtRuntime(name="positions")
    for fields in ('{"x":["float",1.0],"y":["float",2.0]}', '{"z":["int",1],"y":["int",2],"x":["int",3]}'):
        back = definition.parse(f'key:["Position",{fields}]').value
        assert not isinstance(back, Position)
        assert type(back).__name__ == "Position"
        assert str(definition.key(back)) == f'key:["Position",{fields}]'
    nowhere = 'key:["Nowhere",{"at":["tuple",["int",1],"a"]}]'
    assert definition.parse(nowhere).value.at == (1, "a")
    assert type(definition.parse(nowhere).value) is type(definition.parse(nowhere).value)


class Reading(PartitionKey):
    x: float
    at: datetime


NIGHT = datetime(2013, 11, 3, 1, tzinfo=ZoneInfo("America/New_York"))


def test_ek10_equal_keys_have_the_same_text() -> None:
    assert Reading(0.0, NIGHT) == Reading(-0.0, NIGHT)
    assert text_of(Reading(0.0, NIGHT)) == text_of(Reading(-0.0, NIGHT))
    others = [Reading(0.0, NIGHT), Reading(0.0, NIGHT.replace(fold=1)), Reading(0.0, NIGHT.astimezone(UTC))]
    assert len({text_of(key) for key in others}) == len(set(others)) == 3
    assert dict(SegmentMap({key: ["a"] for key in others}).values).keys() == set(others)


def test_ek8_a_key_can_not_be_made_anew() -> None:
    key = Reading(1.0, NIGHT)
    with suppress(TypeError):
        key.__init__(5.0, NIGHT)  # type: ignore[misc]
    assert key.x == 1.0


def test_ek11_keys_are_compared_with_keys_only_and_numbers_have_an_end() -> None:
    key: Any = Reading(1.0, NIGHT)
    for compare in (lt, le, gt, ge):
        with pytest.raises(TypeError, match="not supported between"):
            compare(key, 5)
    with pytest.raises(InvalidKeyError, match="got an int too large for a float"):
        Reading(10**400, NIGHT)
