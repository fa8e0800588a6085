"""The order of assets along the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def upstream_first(upstream: Mapping[str, Iterable[str]]) -> list[str]:
    """The names of assets, each after what it is made of and close below it; connected ones are together.

    What is in a circle comes last of its own, by name.

    :param upstream: the names of what each is made of; others than those of assets don't count.
    """
    above = {name: {one for one in some if one in upstream and one != name} for name, some in upstream.items()}
    below: dict[str, list[str]] = {name: [] for name in upstream}
    for name, some in above.items():
        for one in some:
            below[one].append(name)
    order: list[str] = []
    seen: set[str] = set()
    for name in sorted(upstream):
        if name not in seen:
            connected = _connected(name, above, below)
            seen |= connected
            order += _in_order(connected, above, below)
    return order


def _connected(name: str, above: Mapping[str, set[str]], below: Mapping[str, list[str]]) -> set[str]:
    connected, reached = set[str](), [name]
    while reached:
        if (one := reached.pop()) not in connected:
            connected.add(one)
            reached += [*above[one], *below[one]]
    return connected


def _in_order(names: set[str], above: Mapping[str, set[str]], below: Mapping[str, list[str]]) -> list[str]:
    lacking = {name: len(above[name]) for name in names}
    ready = sorted((name for name in names if not lacking[name]), reverse=True)
    order: list[str] = []
    while ready:
        order.append(name := ready.pop())
        for one in sorted(below[name], reverse=True):
            lacking[one] -= 1
            if not lacking[one]:
                ready.append(one)
    return order + sorted(names.difference(order))
