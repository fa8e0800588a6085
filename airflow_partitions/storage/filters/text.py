"""Filters written as text: comparisons of Python, joined by ``and``, ``or`` and ``not``."""

from __future__ import annotations

import ast
from typing import Any

from airflow_partitions.errors import FilterError
from airflow_partitions.storage.filters.filter import And, Condition, Field, Filter, Or, flatten, scalar

_LONGEST = 32 * 1024
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
#: What a comparison becomes when its sides change places.
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def parse(text: str) -> Filter:
    """The filter written as *text*. Nothing in it is run: only names, constants and comparisons are read."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise FilterError(f"{str(text)[:60]!r}… is no filter; expected text of at most {_LONGEST} characters")
    try:
        return _filter(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, FilterError):
            raise FilterError(f"filter {text[:200]!r}: {error}") from None
        raise FilterError(
            f"{text[:200]!r} is no filter ({error}); expected for example \"airport == 'EWR' and hour in (1, 2)\""
        ) from None


def _filter(node: ast.expr) -> Filter:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return And(flatten(And, map(_filter, values)))
        case ast.BoolOp(op=ast.Or(), values=values):
            return Or(flatten(Or, map(_filter, values)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ~_filter(operand)
        case ast.Compare(left=left, ops=ops, comparators=rights):
            sides = [left, *rights]
            made = [_condition(sides[i], _OPERATORS.get(type(op), ""), sides[i + 1]) for i, op in enumerate(ops)]
            return made[0] if len(made) == 1 else And(tuple(made))
    raise FilterError(f"{ast.unparse(node)!r} is no comparison; expected one such as \"airport == 'EWR'\"")


def _condition(left: ast.expr, op: str, right: ast.expr) -> Condition:
    name, value = _name(left), right
    if name is None and op in _TURNED:
        name, value, op = _name(right), left, _TURNED[op]
    if name is None or not op:
        raise FilterError(
            f"{ast.unparse(left)} … {ast.unparse(right)} does not compare a field with a value; expected for example"
            " \"hour < 5\"; names that are no identifiers are written field('the name')"
        )
    found = _value(value)
    if (op in ("in", "not in")) != isinstance(found, list):
        raise FilterError(f"{name} {op} {ast.unparse(value)}: expected several values for 'in', one for all others")
    return Condition(name, op, tuple(map(scalar, found)) if isinstance(found, list) else scalar(found))


def _name(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="field"), args=[ast.Constant(value=str(name))], keywords=[]):
            return Field(name).name
    return None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [_value(item) for item in node.elts]
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise FilterError(f"{ast.unparse(node)!r} is no value; expected text in quotes, a number or a bool") from None
