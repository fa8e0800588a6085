"""JSON forms in columns, read so that a row with a broken one keeps no other row from being read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs
from sqlalchemy import JSON, ColumnElement, Dialect, Text, cast, type_coerce
from sqlalchemy.types import TypeDecorator

_SHOWN = 40


@attrs.frozen(repr=False)
class Unreadable:
    """Text in place of a JSON form: only who takes a part of it gets an error.

    :ivar reason: why it can't be read.
    """

    text: str
    reason: str

    def __getitem__(self, _: object) -> Any:
        raise ValueError(repr(self))

    def __repr__(self) -> str:
        return f"{self.text[:_SHOWN]!r} is no JSON: {self.reason}"


class Form(TypeDecorator[Any]):
    """A column of JSON; what can't be read is :class:`Unreadable`.

    Drivers and dialects decode JSON while rows are fetched, where one row would end the question for all: so it is
    fetched as text.
    """

    impl = JSON
    cache_ok = True

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """The column as text."""
        return type_coerce(cast(column, Text), self)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """What makes forms of texts."""
        return _form


def _form(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return Unreadable(text, str(error))
