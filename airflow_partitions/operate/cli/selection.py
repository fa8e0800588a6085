"""The selection that the arguments of a command are."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from airflow.cli.cli_config import Arg


class SelectionArg(Arg):
    """Positional arguments that may also come after options."""

    def add_to_parser(self, parser: ArgumentParser) -> None:
        """Add it to the parser of a command."""
        super().add_to_parser(parser)
        usual = parser.parse_known_args

        # Called by the parser of all commands. The usual one ends the selection at an option, even before it began.
        def parse(args: Sequence[str], namespace: None = None) -> tuple[Namespace, list[str]]:
            parser.parse_known_args = usual  # type: ignore[method-assign]
            try:
                return parser.parse_known_intermixed_args(args, namespace)
            finally:
                parser.parse_known_args = parse  # type: ignore[assignment, method-assign]

        parser.parse_known_args = parse  # type: ignore[assignment, method-assign]


def selected(args: Namespace) -> str | None:
    """Its text: what any of them selects; ``None`` if there are none."""
    return "; ".join(args.select) or None
