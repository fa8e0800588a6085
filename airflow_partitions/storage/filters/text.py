"""Filters written as text: comparisons of Python, joined by ``and``, ``or`` and ``not``."""

from __future__ import annotations

import ast
from typing import Any

from airflow_partitions.core.errors import FilterError

Form = dict[str, Any]
_LONGEST = 32 * 1024
_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
#: What a comparison becomes when its sides change places.
_TURNED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: What a test for None is to a filter.
_NULL = {"is": "==", "is not": "!="}


def form_of(text: str) -> Form:
    """JSON form of the filter written as *text*. Nothing in it is run: only names, constants and comparisons are read.

    :raises FilterError: if it is no filter; the place is named.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise FilterError(f"{str(text)[:60]!r}… is no filter; expected text of at most {_LONGEST} characters")
    try:
        return _form(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, FilterError):
            raise FilterError(f"filter {text[:200]!r}: {error}") from None
        raise FilterError(
            f"{text[:200]!r} is no filter ({error}); expected for example \"airport == 'EWR' and hour in (1, 2)\""
        ) from None


def _form(node: ast.expr) -> Form:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return {"and": list(map(_form, values))}
        case ast.BoolOp(op=ast.Or(), values=values):
            return {"or": list(map(_form, values))}
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return {"not": _form(operand)}
        case ast.Compare(left=left, ops=ops, comparators=rights):
            sides = [left, *rights]
            conditions = [_condition(sides[i], _OPERATORS.get(type(op), ""), sides[i + 1]) for i, op in enumerate(ops)]
            return conditions[0] if len(conditions) == 1 else {"and": conditions}
    raise FilterError(f"{ast.unparse(node)!r} is no comparison; expected one such as \"airport == 'EWR'\"")


def _condition(left: ast.expr, op: str, right: ast.expr) -> Form:
    name, value = _name(left), right
    if name is None and op in _TURNED:
        name, value, op = _name(right), left, _TURNED[op]
    if name is None or not op:
        raise FilterError(
            f"{ast.unparse(left)} … {ast.unparse(right)} does not compare a field with a value; expected for example"
            " \"hour < 5\"; names that are no identifiers are written field('the name')"
        )
    literal = _value(value)
    if (op in ("in", "not in")) != isinstance(literal, list):
        raise FilterError(f"{name} {op} {ast.unparse(value)}: expected several values for 'in', one for all others")
    if op in _NULL and literal is not None:
        raise FilterError(f"{name} {op} {ast.unparse(value)}: expected 'is None', 'is not None', or ==")
    return {"field": name, "op": _NULL.get(op, op), "value": literal}


def _name(node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="field"), args=[ast.Constant(value=str(name))], keywords=[]):
            return name
    return None


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return [_value(item) for item in node.elts]
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise FilterError(f"{ast.unparse(node)!r} is no value; expected text in quotes, a number or a bool") from None
