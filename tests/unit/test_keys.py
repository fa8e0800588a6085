"""Single keys: intervals, segments' values, and the classes authors make."""

from __future__ import annotations

import enum
from datetime import date, datetime, timedelta, timezone
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest

from airflow_partitions import Interval, PartitionBySequence, PartitionKey
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError, PartitionError
from airflow_partitions.keys import ProductKey, Segment
from airflow_partitions.keys.partition_key import PartitionKeyMeta
from airflow_partitions.keys.value import from_json

NEW_YORK = ZoneInfo("America/New_York")


class Position(PartitionKey):
    x: float
    y: float
    z: float

    def __str__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"

    def length(self) -> float:
        return abs(self.x) + abs(self.y) + abs(self.z)


# Intervals


def test_a9_an_interval_is_shown_by_its_start() -> None:
    interval = Interval(datetime(2013, 11, 3, 1, tzinfo=NEW_YORK), datetime(2013, 11, 3, 1, fold=1, tzinfo=NEW_YORK))
    assert str(interval) == "2013-11-03T01:00-04:00"
    assert (interval.start.isoformat(), interval.end.isoformat()) == (
        "2013-11-03T01:00:00-04:00",
        "2013-11-03T01:00:00-05:00",
    )
    assert datetime(2013, 11, 3, 1, 59, tzinfo=NEW_YORK) in interval
    assert interval.end not in interval


def test_a9_intervals_compare_by_their_instants() -> None:
    here = Interval(datetime(2013, 1, 1, tzinfo=NEW_YORK), datetime(2013, 1, 2, tzinfo=NEW_YORK))
    there = Interval(datetime(2013, 1, 1, 5, tzinfo=ZoneInfo("UTC")), datetime(2013, 1, 2, 5, tzinfo=ZoneInfo("UTC")))
    later = Interval(there.end, there.end + timedelta(days=1))
    assert here == there
    assert hash(here) == hash(there)
    assert here < later
    assert sorted([later, here]) == [here, later]
    assert here.overlaps(there)
    assert not here.overlaps(later)
    assert here != "2013-01-01"


@pytest.mark.parametrize("bound", ["start", "end"])
def test_an_interval_refuses_a_naive_bound(bound: str) -> None:
    bounds: dict[str, Any] = {
        "start": datetime(2013, 1, 1, tzinfo=NEW_YORK),
        "end": datetime(2013, 1, 2, tzinfo=NEW_YORK),
    }
    bounds[bound] = bounds[bound].replace(tzinfo=None)
    with pytest.raises(
        InvalidDefinitionError, match=rf"Interval {bound}=datetime.datetime\(2013.* no UTC offset; .*tzinfo="
    ):
        Interval(**bounds)


def test_an_interval_ends_after_its_start() -> None:
    moment = datetime(2013, 1, 2, tzinfo=NEW_YORK)
    with pytest.raises(InvalidDefinitionError, match="end 2013-01-02T00:00:00-05:00 is not after its start 2013-01-02"):
        Interval(moment, moment)


# Values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("eu", "eu"), (1, "1"), (-7, "-7"), (1.0, "1.0"), (1e300, "1e+300"), (date(2013, 1, 1), "2013-01-01"),
        (datetime(2013, 1, 1, tzinfo=timezone(timedelta(hours=-5))), "2013-01-01T00:00:00-05:00"),
        (("eu", 1), "eu,1"), (("a,b", "c"), "a\\,b,c"), (Position(1, 2, 3), "x=1.0,y=2.0,z=3.0"),
    ],
)  # fmt: skip
def test_a5_the_text_of_a_value(value: Any, text: str) -> None:
    assert str(Segment.of(value)) == text


class Region(enum.StrEnum):
    EU = "eu"


def test_a5_the_two_hours_of_a_clock_change_have_different_texts() -> None:
    one, other = (datetime(2013, 11, 3, 1, tzinfo=NEW_YORK, fold=fold) for fold in (0, 1))
    assert [str(Segment.of(value)) for value in (one, other)] == ["2013-11-03T01:00:00-04:00", "2013-11-03T01:00:00-05:00"]
    assert Segment.of(one) != Segment.of(other)


class Bad:
    pass


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "printable text"), (" eu", "printable text without space at its ends"), ("a\nb", "printable text"),
        (True, "reads like an int"), (float("nan"), "finite float"), (float("inf"), "finite float"),
        (datetime(2013, 1, 1), "aware datetime"), (None, "expected int, float, str"), ([1], "expected int, float, str"),  # noqa: DTZ001
        ({"a": 1}, "expected int"), ((), "expected int"), (("a", [1]), "expected int"), (Bad(), "Bad can't be a key"),
        (Region.EU, "Region can't be a key; expected .*, no subclass of them"),
        (timedelta(1), "timedelta can't be a key"),
    ],
)  # fmt: skip
def test_a5_what_can_not_be_a_value(value: Any, problem: str) -> None:
    with pytest.raises(InvalidKeyError, match=problem) as caught:
        Segment.of(value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, PartitionError)
    assert repr(value if not isinstance(value, tuple) or not value else value[1])[:40] in str(caught.value)


def test_a9_segments_of_different_types_differ() -> None:
    assert Segment.of(1) != Segment.of("1")
    assert Segment.of(1) == Segment.of(1)
    assert Segment.of(1) != "1"
    with pytest.raises(AttributeError, match="frozen"):
        Segment.of(1).value = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    "data", [None, 5, [], ["int", "1"], ["date", "soon"], ["datetime", ""], ["key", "K", []], {"a": 1}]
)
def test_json_that_is_no_key(data: Any) -> None:
    with pytest.raises(InvalidKeyError, match="is not the JSON of a key"):
        from_json(data)


def test_a_product_key_is_a_mapping() -> None:
    key = ProductKey(("day", "side"), (Segment.of("a|b"), Segment.of("c\\d")))
    assert dict(key) == {"day": Segment.of("a|b"), "side": Segment.of("c\\d")}
    assert str(key) == "a\\|b|c\\\\d"
    assert len(key) == 2
    with pytest.raises(KeyError, match="no dimension 'night'; there are: day, side"):
        key["night"]


# Key classes


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
