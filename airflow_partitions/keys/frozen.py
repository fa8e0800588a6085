"""Objects that never change."""

from __future__ import annotations

from typing import NoReturn


class Frozen:
    """Refuses to set or remove attributes. Subclasses fill their slots in ``__new__``, by :data:`fill`."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen; {name!r} can't be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen; {name!r} can't be removed")


#: Sets an attribute of an object that is being made.
fill = object.__setattr__
