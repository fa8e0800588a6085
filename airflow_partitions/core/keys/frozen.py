"""Objects that never change."""

from __future__ import annotations

from typing import NoReturn


class Frozen:
    """Refuses to set or remove attributes.

    The slots of a frozen class are those of an open base; its ``__new__`` makes and fills an object of the base, then
    gives it the frozen class. That costs no more than an object that can change; setting slots past ``__setattr__``
    costs twice as much, and thousands of keys are made at once.
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen; {name!r} can't be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen; {name!r} can't be removed")
