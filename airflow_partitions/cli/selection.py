"""The selection that the arguments of a command are."""

from __future__ import annotations

from argparse import Namespace


def selected(args: Namespace) -> str | None:
    """Its text: what any of them selects; ``None`` if there are none."""
    return "; ".join(args.select) or None
