"""What of a function travels, and what is refused when the Dag is parsed."""

from __future__ import annotations

import functools
import json
import os.path
from collections.abc import Callable
from os.path import basename
from typing import Any

import pytest

from airflow_partitions.core.errors import ShippingError
from airflow_partitions.spark.modules import modules_of
from airflow_partitions.spark.shipping import Shipped, ship

CONSTANT = 3
json_alias = json


def sum(values: Any) -> Any:  # noqa: A001 - hides the builtin, as `from pyspark.sql.functions import sum` does
    return values


def helper(value: int) -> int:
    return value


def marker(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


# --- what travels


@marker
def annotated(spark: Any, partition: Any, flights: Any) -> Any:
    """Decorators and annotations go."""
    total: int = 1
    unset: NotThere  # type: ignore[name-defined]  # noqa: F821, F842
    return total, spark, partition, flights


def with_imports(flights: Any) -> Any:
    import math
    import os.path as p
    from collections import Counter as Count

    return math.pi, p.sep, Count(flights)


def with_scopes(flights: Any) -> Any:
    def inner(value: int, *more: int, key: int = 2) -> int:
        nonlocal counted
        counted += 1
        return value + key + len(more) + counted

    class Local:
        size = 2
        double = size * 2

        def method(self) -> int:
            return self.size + len(type(self).__name__)

    counted = 0
    squares = [n * n for n in flights if (big := n) > 0]
    pairs = {k: v for k, v in enumerate(squares)}  # noqa: C416
    try:
        raise ValueError("x")  # noqa: TRY301
    except ValueError as error:
        text = str(error)
    with open(os_devnull := "/dev/null") as file:  # noqa: PTH123
        file.read()
    for i, (a, *rest) in enumerate([(1, 2, 3)]):
        del a
        total = i + len(rest)
    match {"x": 1}:
        case {"x": found, **others}:
            total += found + len(others)
    handler = lambda x: x + total  # noqa: E731
    return inner(1), Local().method(), pairs, text, big, os_devnull, handler(1)


def with_default(flights: Any, limit: int = 10) -> Any:
    return flights[:limit]


def with_inner_annotations(flights: Any) -> Any:
    from dataclasses import dataclass

    @dataclass
    class Pair:
        left: int
        right: int = 1

    def typed(value: int) -> str:
        return str(value)

    return Pair(1), typed.__annotations__, flights


def with_shipped_module(flights: Any) -> Any:
    return json.dumps(flights), json_alias.dumps(1), os.path.basename("/a/b")  # noqa: PTH119


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (annotated, {"spark": 1, "partition": 2, "flights": 3}, (1, 1, 2, 3)),
        (with_default, {"flights": [1, 2]}, [1, 2]),
    ],
)
def test_travels(function: Callable[..., Any], arguments: dict[str, Any], result: Any) -> None:
    shipped = Shipped.from_json(json.loads(json.dumps(ship(function, inputs=["flights"]).to_json())))
    assert shipped.load()(**arguments) == result


def test_annotations_and_decorators_stay_behind() -> None:
    source = ship(annotated, inputs=["flights"]).source
    assert "marker" not in source
    assert "NotThere" not in source
    assert "Any" not in source


@pytest.mark.parametrize("function", [with_imports, with_scopes])
def test_own_names_of_every_kind(function: Callable[..., Any]) -> None:
    assert ship(function, inputs=["flights"]).load()([1, 2]) == function([1, 2])


def test_inner_annotations_stay() -> None:
    pair, annotations, _ = ship(with_inner_annotations, inputs=["flights"]).load()(None)
    assert pair.right == 1
    assert set(annotations) == {"value", "return"}


def test_modules_that_go_along_are_imported_anew() -> None:
    shipped = ship(with_shipped_module, inputs=["flights"], modules=["json", "os"])
    assert "import json\nimport json as json_alias\nimport os\n" in shipped.source
    assert shipped.load()([1]) == ("[1]", "1", "b")


def test_parameters_are_those_we_give() -> None:
    assert ship(annotated, inputs=["flights"]).parameters == ("spark", "partition", "flights")
    assert ship(with_default, inputs=["flights"]).parameters == ("flights",)


def test_tracebacks_show_the_shipped_lines() -> None:
    import traceback

    try:
        ship(fails, inputs=["flights"]).load()(0)
    except ZeroDivisionError:
        assert "return 1 / flights" in traceback.format_exc()


def fails(flights: Any) -> Any:
    return 1 / flights


# --- what is refused


def uses_constant(flights: Any) -> Any:
    return flights, CONSTANT


def uses_helper(flights: Any) -> Any:
    return [helper(f) for f in flights]


def uses_module(flights: Any) -> Any:
    return json.dumps(flights)


def uses_imported_name(flights: Any) -> Any:
    return basename(flights)  # noqa: PTH119


def uses_hidden_builtin(flights: Any) -> Any:
    return sum(flights)


def uses_undefined(flights: Any) -> Any:
    return undefined_name  # type: ignore[name-defined]  # noqa: F821


def uses_in_comprehension(flights: Any) -> Any:
    return dict.fromkeys(flights, CONSTANT)


def uses_in_nested(flights: Any) -> Any:
    def inner() -> Any:
        return [lambda: CONSTANT for _ in flights]

    return inner


def uses_in_class(flights: Any) -> Any:
    class Local:
        size = CONSTANT

    return Local, flights


def uses_in_inner_decorator(flights: Any) -> Any:
    @marker
    def inner() -> None: ...

    return inner, flights


def uses_in_default(flights: Any, limit: int = CONSTANT) -> Any:
    return flights, limit


def uses_in_inner_default(flights: Any) -> Any:
    def inner(x: int = CONSTANT) -> int:
        return x

    return inner, flights


def uses_in_fstring(flights: Any) -> Any:
    return f"{flights} {CONSTANT:>{CONSTANT}}"


def uses_global(flights: Any) -> Any:
    global CONSTANT
    CONSTANT = 4
    return flights


def uses_itself(flights: Any) -> Any:
    return uses_itself(flights)


def uses_file(flights: Any) -> Any:
    return __file__, flights


def uses_relative(flights: Any) -> Any:
    from . import conftest  # noqa: TID252

    return conftest, flights


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (uses_constant, r"function 'uses_constant' uses the variable 'CONSTANT' of its file; write its value inside"),
        (uses_helper, r"uses 'helper' of its file; define it inside the function"),
        (uses_module, r"the module 'json' imported at the top of the file; write 'import json' inside"),
        (uses_imported_name, r"'basename' imported at the top .* write 'from posixpath import basename' inside"),
        (uses_hidden_builtin, r"uses 'sum' of its file"),
        (uses_undefined, r"uses 'undefined_name', which is not defined"),
        (uses_in_comprehension, "CONSTANT"),
        (uses_in_nested, "CONSTANT"),
        (uses_in_class, "CONSTANT"),
        (uses_in_inner_decorator, "'marker'"),
        (uses_in_default, "CONSTANT"),
        (uses_in_inner_default, "CONSTANT"),
        (uses_in_fstring, "CONSTANT"),
        (uses_global, r"'global CONSTANT' does not travel to Spark"),
        (uses_itself, "calls itself"),
        (uses_file, "__file__"),
        (uses_relative, "relative import"),
    ],
)
def test_names_from_outside_are_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(ShippingError, match=words):
        ship(function, inputs=["flights"])


async def is_async(flights: Any) -> Any:
    return flights


def is_generator(flights: Any) -> Any:
    yield flights


async def is_async_generator(flights: Any) -> Any:
    yield flights


class Holder:
    def method(self, flights: Any) -> Any:
        return flights

    def __call__(self, flights: Any) -> Any:
        return flights


def wrapped_inner(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(flights: Any) -> Any:
        return function(flights)

    return wrapper


@wrapped_inner
def is_wrapped(flights: Any) -> Any:
    return flights


def outer(constant: int) -> Callable[..., Any]:
    def closure(flights: Any) -> Any:
        return flights, constant

    return closure


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda flights: flights, "is a lambda"),
        (is_async, "is async"),
        (is_async_generator, "is async"),
        (is_generator, "is a generator"),
        (Holder.method, "inside another function or class"),
        (Holder(), "expected a function written with def"),
        (functools.partial(helper, 1), "expected a function written with def"),
        (len, "is a builtin_function_or_method"),
        (is_wrapped, "inside another function|wrapped by another decorator"),
        (outer(1), "inside another function or class; move it to the top level"),
    ],
)
def test_other_kinds_of_functions_are_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(ShippingError, match=words):
        ship(function, inputs=["flights"])


def test_a_function_without_a_file_is_refused() -> None:
    names: dict[str, Any] = {}
    exec("def made(flights):\n    return flights\n", names)
    with pytest.raises(ShippingError, match="its source can't be read"):
        ship(names["made"], inputs=["flights"])


def unknown_parameter(flights: Any, wether: Any) -> Any:
    return flights, wether


def star(*flights: Any) -> Any:
    return flights


def stars(**flights: Any) -> Any:
    return flights


def positional(flights: Any, /) -> Any:
    return flights


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            unknown_parameter,
            r"parameter 'wether' is nothing we can give; expected one of: spark, partition, partitions, flights",
        ),
        (star, "not supported"),
        (stars, "not supported"),
        (positional, "not supported"),
    ],
)
def test_parameters_that_cannot_be_filled_are_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(ShippingError, match=words):
        ship(function, inputs=["flights"])


def test_modules_of_files_and_archives(tmp_path: Any) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "libs-1.0.zip", "w") as archive:
        archive.writestr("cleaning/__init__.py", "")
        archive.writestr("rules.py", "")
    names = modules_of(f"s3://bucket/helpers.py, {tmp_path}/libs-1.0.zip")
    assert {"helpers", "cleaning", "rules"} <= names
    assert modules_of(None) == frozenset()
