"""The checks that an asset declares."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from typing import Any

from airflow_partitions.checks.check import Check
from airflow_partitions.checks.function import FunctionCheck, by_spark
from airflow_partitions.checks.pandera_schema import SchemaCheck, is_pandera
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.frames.frame import Frame
from airflow_partitions.storage.io.registry import reader_for
from airflow_partitions.storage.storage import Storage


def declared(
    checks: Iterable[Any], asset: str, storage: Storage | None, inputs: Collection[str], default: Frame | None = None
) -> tuple[Check, ...]:
    """What stands in ``checks=`` of *asset*, each as a check.

    :param storage: what the asset is published to.
    :param inputs: names of its inputs.
    :param default: the frame of a function that says none.
    :raises InvalidDefinitionError: if one is no check, or can't be made there; with the nearest column.
    :raises ReaderError: if the rows can't be read without Spark.
    """
    if not isinstance(checks, Iterable) or isinstance(checks, str):
        raise InvalidDefinitionError(
            f"asset {asset!r}: checks={checks!r}; expected a list, such as [NotNull('origin')]"
        )
    whole = tuple(_check(each, asset, default) for each in checks)
    if whole and storage is None:
        raise InvalidDefinitionError(
            f"asset {asset!r} has checks and no storage, so that nothing is checked before it is there; expected"
            " storage=, and a function that returns the rows"
        )
    for check in whole:
        if storage is not None:
            _check_place(check, asset, storage)
        if missing := [name for name in check.inputs if name not in inputs]:
            raise InvalidDefinitionError(
                f"asset {asset!r}: check {check.name!r} is about {missing[0]!r}, which is no input; expected one of:"
                f" {', '.join(inputs) or '(it has none)'}"
            )
    return whole


def _check(each: Any, asset: str, default: Frame | None) -> Check:
    if is_pandera(each):
        return SchemaCheck(each)
    if inspect.isfunction(each):
        return FunctionCheck(each).over(default)
    if isinstance(each, FunctionCheck):
        return each.over(default)
    if isinstance(each, Check):
        return each
    hint = f": {each.__name__}(…)" if isinstance(each, type) and issubclass(each, Check) else ""
    raise InvalidDefinitionError(
        f"asset {asset!r}: {each!r} is no check; expected one of airflow_partitions.checks{hint}, a function over the"
        " rows, or a schema of pandera"
    )


def _check_place(check: Check, asset: str, storage: Storage) -> None:
    if check.table not in (storage.members or ("",)):
        received, expected = (
            (repr(check.table), "no table=")
            if not storage.members
            else (repr(check.table) if check.table else "none", f"table= as one of {', '.join(storage.members)}")
        )
        raise InvalidDefinitionError(
            f"asset {asset!r}: check {check.name!r} is about table {received} of {storage.path!r}; expected {expected}"
        )
    own = storage.table(check.table) if check.table else storage
    check.check_storage(own)
    if not by_spark(check):
        reader_for("arrow", own)
