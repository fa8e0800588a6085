"""Mapping whose values are made when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

_Value = TypeVar("_Value")


class LazyMapping(Mapping[str, _Value], Generic[_Value]):
    """What *function* makes of the values of *source*, each time that one is looked at.

    Of a million partitions there are a million short texts then, not ten million objects.
    """

    def __init__(self, source: Mapping[str, Any], function: Callable[[Any], _Value]) -> None:
        self._source = source
        self._function = function

    def __getitem__(self, key: str) -> _Value:
        return self._function(self._source[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._source)

    def __len__(self) -> int:
        return len(self._source)
