"""Arguments of commands, as the contracts of operations have them."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Collection, Mapping
from enum import EnumType
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin

from airflow.cli.cli_config import Arg
from pydantic.fields import FieldInfo

from airflow_partitions.core.errors import InvalidRequestError
from airflow_partitions.operate.cli.keys_file import KeysFile
from airflow_partitions.operate.cli.selection import SelectionArg, selected
from airflow_partitions.operate.contract.operation import Operation

A = TypeVar("A", bound=Operation)

#: Fields whose arguments are called otherwise: by these flags, with these words for their values.
_CALLED = {"states": ("--only", "STATE"), "cursor": ("--after", "CURSOR")}
_WORDS = {"dimension": "NAME", "from_asset": "NAME", "asset": "NAME", "since": "TIME", "tag": "TAG", "owner": "NAME",
          "group": "NAME", "dag": "NAME", "until": "TIME"}  # fmt: skip


def arguments(
    operation: type[Operation], *, without: Collection[str] = (), defaults: Mapping[str, Any] | None = None
) -> tuple[Arg, ...]:
    """An argument for each field of an *operation*.

    :param without: the names of fields that a command says itself.
    :param defaults: those of a command, where they are not those of the operation.
    """
    return tuple(
        _argument(name, field, (defaults or {}).get(name, field.default))
        for name, field in operation.model_fields.items()
        if name not in without
    )


def asked(operation: type[A], args: Namespace, **values: Any) -> A:
    """What asks for an *operation* with the arguments of a command.

    :param values: of fields that the command says itself.
    :raises InvalidRequestError: for a value that the operation can't take.
    """
    fields = {name: field for name, field in operation.model_fields.items() if name in args and name not in values}
    given = {name: _value(args, name, field) for name, field in fields.items()}
    return operation.of(**given, **values)


def _argument(name: str, field: FieldInfo, default: Any) -> Arg:
    kind, help_text = _kind(field), field.description or ""
    if name == "select":
        words = "Keys, 2013-03, A..B (not including B), latest or all, and conditions such as '& airport in JFK,LGA'"
        return SelectionArg(  # type: ignore[no-untyped-call]
            ("select",), nargs="*", metavar="SELECTION", help=words
        )
    if name == "keys":
        words = "File with one key a line, instead of a selection; - for the standard input"
        return Arg(("--keys-file",), dest=name, type=KeysFile.read, metavar="FILE", help=words)
    flag, word = _CALLED.get(name, (f"--{name.replace('_', '-')}", _WORDS.get(name, "TEXT")))
    if field.is_required():
        number = {"type": int, "metavar": "NUMBER"} if kind is int else {}
        return Arg((name,), help=help_text.partition(";")[0], **number)
    if kind is bool:
        return Arg((flag,), dest=name, action="store_true", help=help_text)
    if kind is int:
        bounds = {type(bound).__name__: bound for bound in field.metadata}
        most = f"up to {bounds['Le'].le:,}; " if "Le" in bounds else ""
        return Arg((flag,), dest=name, type=int, default=default, help=f"{help_text} ({most}default: {default})")
    if get_origin(kind) is list:
        texts = tuple(_texts(get_args(kind)[0]))
        choices = {"choices": texts} if texts else {}
        return Arg((flag,), dest=name, action="append", metavar=word, help=f"{help_text}; can be repeated", **choices)
    if kind is not str:
        return Arg((flag,), dest=name, metavar="JSON", help=help_text)
    return Arg((flag,), dest=name, metavar=word, default=default, help=help_text)


def _kind(field: FieldInfo) -> Any:
    """The type of the values of a *field*, without their bounds, and without ``None``."""
    kinds = [kind for kind in get_args(field.annotation) if kind is not NoneType]
    kind: Any = kinds[0] if NoneType in get_args(field.annotation) else field.annotation
    return kind.__origin__ if hasattr(kind, "__metadata__") else kind


def _texts(kind: Any) -> list[str]:
    """The values that there are of a *kind*; none if these are not known."""
    if isinstance(kind, EnumType):
        return list(kind.__members__.values())
    return [str(value) for value in get_args(kind)] if get_origin(kind) is Literal else []


def _value(args: Namespace, name: str, field: FieldInfo) -> Any:
    if name == "select":
        return selected(args)
    value, kind = getattr(args, name), _kind(field)
    if isinstance(value, KeysFile):
        return value.keys
    if value is None or kind in (bool, int, str) or get_origin(kind) is list:
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise InvalidRequestError(f"--{name} {value!r} is no JSON: {error}") from None
