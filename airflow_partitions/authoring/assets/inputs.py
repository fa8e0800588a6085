"""The inputs that an asset declares: storage, the rule, and the frame that its function takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from airflow_partitions.authoring.assets.declaration import AssetDeclaration, DeclaredAsset
from airflow_partitions.core.dependencies import Dependency, Overlap, Previous
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.frames.frame import Frame, check_read, frame_of
from airflow_partitions.frames.input import PAST, Inputs
from airflow_partitions.storage import Storage


def inputs_of(
    declaration: AssetDeclaration,
    asset: DeclaredAsset,
    function: Callable[..., Any] | None,
    default: Frame | None = None,
) -> Inputs:
    """The inputs of *asset*: those that its *declaration* names, and the stored assets in its schedule that *function*
    has as parameters.

    :param default: what a parameter gets whose annotation says nothing, or can't be looked up; by default an input of
        the declaration is refused then, and an asset in the schedule is no input.
    :raises InvalidDefinitionError: if one is not stored, can't be read as its frame, or none of its partitions can
        belong to one of the asset's.
    """
    sources: dict[str, Storage | DeclaredAsset] = {
        upstream.name: upstream
        for upstream in _assets(declaration.schedule)
        if upstream.storage is not None and (function is None or _takes(function, upstream.name, default))
    }
    sources |= declaration.inputs
    rules = dict(declaration.rules or {})
    if declaration.past and function is not None and PAST in inspect.signature(function).parameters:
        sources[PAST] = _own_storage(asset)
        rules[PAST] = Previous(declaration.past)
    storage = {name: _storage(name, source) for name, source in sources.items()}
    rules = {name: rule for name, rule in rules.items() if name in storage}
    frames = {}
    for name, stored in storage.items():
        if asset.partition is not None and stored.partition is not None:
            Dependency(asset.partition, stored.partition, rules.get(name, Overlap()))  # refuses what can never meet
        frame = default if function is None else frame_of(function, name, default) or default
        if frame is None:
            raise InvalidDefinitionError(
                f"asset {asset.name!r}: input {name!r} does not say what it is to be read as; expected an annotation:"
                f" def {asset.name}({name}: pd.DataFrame), or one of polars or Arrow"
            )
        check_read(frame, stored, getattr(sources[name], "result", None), f"{asset.name}: {name}")
        frames[name] = frame
    if others := set(declaration.rules or {}) - set(rules) - set(declaration.schedule_rules()):
        known = sorted({*rules, *storage, *declaration.schedule_rules()})
        near = "; ".join(f"{other!r}: nearest: {', '.join(nearest_texts(other, known))}" for other in sorted(others))
        raise InvalidDefinitionError(
            f"rules for {', '.join(sorted(others))}: no input or upstream of {asset.name}"
            + (f"; {near}" if known else ", which has none")
        )
    return Inputs(storage, rules, frames)


def _own_storage(asset: DeclaredAsset) -> Storage:
    if asset.storage is None:
        raise InvalidDefinitionError(
            f"asset {asset.name!r}: parameter {PAST!r} takes its own partitions before this one, and it has no storage;"
            " expected storage=, or a function without that parameter"
        )
    return asset.storage


def _takes(function: Callable[..., Any], name: str, default: Frame | None) -> bool:
    """Whether *function* takes the asset *name* as a frame."""
    if name not in inspect.signature(function).parameters:
        return False
    return default is not None or frame_of(function, name) is not None


def _assets(schedule: Any) -> Iterator[DeclaredAsset]:
    """The assets of this package in a schedule: one, a list, or joined by ``&`` and ``|``."""
    if isinstance(schedule, DeclaredAsset):
        yield schedule
    for part in schedule if isinstance(schedule, list | tuple) else getattr(schedule, "objects", ()):
        yield from _assets(part)


def _storage(name: str, source: Storage | DeclaredAsset) -> Storage:
    storage = source.storage if isinstance(source, DeclaredAsset) else source
    if not isinstance(storage, Storage):
        raise InvalidDefinitionError(
            f"input {name!r} is {source!r}; expected storage such as Parquet('/lake/x', partition=…), or an asset with"
            " storage="
        )
    return storage
