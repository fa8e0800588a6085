"""Names that a package exports, imported when they are first asked for.

Whoever gives one of them an argument that it does not have is told the nearest: this is the one place for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from inspect import Parameter, isclass, isfunction, signature
from typing import Any

#: What other libraries call some of our arguments.
_ELSEWHERE = {
    "tz": "timezone",
    "zone": "timezone",
    "tzinfo": "timezone",
    "min": "at_least",
    "min_value": "at_least",
    "minimum": "at_least",
    "max": "at_most",
    "max_value": "at_most",
    "maximum": "at_most",
    "keys": "values",
    "start_date": "start",
    "end_date": "end",
}
_ADVISES = "_airflow_partitions_advises"


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a *package* (PEP 562) that exports names of its *modules*.

    :param modules: name to the module it is imported from, relative to the package.
    """

    def export(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return _advising(getattr(import_module(f"{package}.{modules[name]}"), name))

    return export


def _advising(exported: Any) -> Any:
    """What is exported, such that it says which argument is nearest to one that it does not have."""
    if isclass(exported):
        initialize: Any = exported.__dict__.get("__init__")
        if isfunction(initialize) and _names_arguments(initialize):
            exported.__init__ = _with_advice(initialize, exported.__name__)  # type: ignore[method-assign]
    elif isfunction(exported) and _names_arguments(exported):
        advising = _with_advice(exported, exported.__name__)
        setattr(import_module(exported.__module__), exported.__name__, advising)  # by which it is pickled
        return advising
    return exported


def _names_arguments(function: Callable[..., Any]) -> bool:
    """Whether a *function* refuses arguments itself, and gives no advice yet."""
    if hasattr(function, _ADVISES):
        return False
    return all(one.kind is not Parameter.VAR_KEYWORD for one in signature(function).parameters.values())


def _with_advice(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            known = [one for one in signature(function).parameters if one != "self"]
            for unknown in kwargs:
                if unknown not in known and f"unexpected keyword argument {unknown!r}" in str(error):
                    raise TypeError(f"{name}() has no argument {unknown!r}; {_nearest(unknown, known)}") from None
            raise

    setattr(call, _ADVISES, True)
    return call


def _nearest(name: str, known: list[str]) -> str:
    if not known:
        return "it takes none"
    called = [one for one in [_ELSEWHERE.get(name)] if one in known]
    return f"nearest: {', '.join(called or get_close_matches(name, known) or known)}"
