"""Values as filters keep them."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from typing import Any

from airflow_partitions.core.errors import FilterError
from airflow_partitions.core.keys.partition_key import is_partition_key
from airflow_partitions.core.keys.value import text_of


def scalar(value: Any) -> str | int | float | bool:
    """*value* as a filter keeps it: numbers, bools and text as they are, everything else as its text.

    Scalars of numpy, pandas and Arrow are taken for what they hold.

    :raises FilterError: if there is no text of it that says the same.
    """
    plain = _plain(value)
    if plain is None or (isinstance(plain, date) and plain != plain):  # NaT is a date, and no date
        raise FilterError(
            f"a filter can't compare with {value!r}; expected a value, == None or != None for what is null, or"
            " between(low, None) for an open range"
        )
    if not is_finite(plain):
        raise FilterError(f"a filter can't compare with {value!r}; expected a finite number")
    if type(plain) in (str, int, float, bool):
        return plain  # type: ignore[no-any-return]
    if isinstance(plain, date):  # datetimes are dates too
        return plain.isoformat()
    if isinstance(plain, Decimal):
        return str(plain)
    if isinstance(plain, tuple) or is_partition_key(plain):
        return text_of(plain)
    raise FilterError(
        f"a filter can't compare with {value!r} of type {type(value).__name__}; expected text, a number, a bool, a date"
        " or a datetime"
    )


def is_finite(value: Any) -> bool:
    """Whether *value* is no number that is infinite or NaN."""
    return value.is_finite() if isinstance(value, Decimal) else not isinstance(value, float) or math.isfinite(value)


def _plain(value: Any) -> Any:
    """What a scalar of numpy or of Arrow holds; any other *value* as it is."""
    kind = type(value)
    if kind.__module__.partition(".")[0] == "pyarrow" and hasattr(value, "as_py"):
        return value.as_py()
    if kind.__module__ != "numpy" or getattr(value, "shape", None) != ():
        return None if kind.__name__ == "NAType" else value
    if value.dtype.kind != "M" or not isinstance(value.item(), int):
        return value.item()
    moment = value.astype("datetime64[us]")  # numpy has numbers where Python has no such fine times
    if moment != value:
        raise FilterError(f"a filter can't compare with {value!r}; expected a time in whole microseconds")
    return moment.item()
