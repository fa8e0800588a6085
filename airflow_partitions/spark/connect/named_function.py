"""Functions that a connection names in its extra."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from airflow_partitions.core.errors import InvalidDefinitionError


def named_function(conn_id: str, key: str, name: object) -> Callable[..., Any]:
    """The function with the dotted *name* that the extra of connection *conn_id* has as *key*.

    :raises InvalidDefinitionError: if there is none.
    """
    expected = f"expected a dotted name of a function that the task can import, as in '{key}': 'our_platform.spark'"
    if not isinstance(name, str) or "." not in name:
        raise InvalidDefinitionError(f"connection {conn_id!r}: {key}={name!r} in its extra; {expected}")
    module, _, attribute = name.rpartition(".")
    try:
        function = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidDefinitionError(
            f"connection {conn_id!r}: {key}={name!r} in its extra can't be imported ({error}); {expected}"
        ) from error
    if not callable(function):
        raise InvalidDefinitionError(
            f"connection {conn_id!r}: {key}={name!r} in its extra is of type {type(function).__name__}; {expected}"
        )
    return function  # type: ignore[no-any-return]
