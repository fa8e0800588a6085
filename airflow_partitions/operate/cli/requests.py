"""``airflow asset-partitions requests``, ``pause``, ``resume``, ``cancel``, ``retry`` and ``delete``."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.output import show
from airflow_partitions.operate.cli.source import source_of
from airflow_partitions.operate.contract.operation import Operation
from airflow_partitions.operate.contract.requests import (
    CancelRequest,
    DeleteRequest,
    ListRequests,
    PauseRequest,
    ResumeRequest,
    RetryRequest,
)

#: Colours and signs of the states of a request, so that they differ for those who see no colours.
SIGNS = {
    "creating": ("cyan", "…"),
    "running": ("cyan", "▶"),
    "paused": ("yellow", "⏸"),
    "stopped": ("yellow", "■"),
    "done": ("green", "✔"),
    "failed": ("red", "✘"),
    "cancelled": ("dim", "⊘"),
}
_RUNS = ("success", "failed", "running", "queued")


def list_requests(args: Namespace) -> None:
    """Show the requests for partitions of an asset."""
    try:
        answer = source_of(args).ask(asked(ListRequests, args, asset=args.asset and [args.asset]))
    except PartitionError as error:
        sys.exit(str(error))
    rows = ([*_row(request), request["selection"]] for request in answer["requests"])
    show(args.output, answer, rows, lambda: requests_table(answer["requests"], args.asset or "requests"))


def pause(args: Namespace) -> None:
    """Begin no more runs of a request, for now."""
    _control(args, PauseRequest)


def resume(args: Namespace) -> None:
    """Go on with a request."""
    _control(args, ResumeRequest)


def cancel(args: Namespace) -> None:
    """Begin no more runs of a request, for good."""
    _control(args, CancelRequest)


def retry(args: Namespace) -> None:
    """Let what failed of a request work again."""
    _control(args, RetryRequest)


def delete(args: Namespace) -> None:
    """Delete a request."""
    _control(args, DeleteRequest)


def requests_table(requests: list[dict[str, Any]], title: str) -> RenderableType:
    """What fits into the 80 columns of a terminal, and what made requests fail."""
    names = "made", "skipped", "failed", "running", "queued", "of"
    numbers = [Column(name, justify="right", no_wrap=True) for name in names]
    texts = [Column(name, no_wrap=True) for name in ("no.", "state")]
    table = Table(*texts, *numbers, Column("label", overflow="ellipsis"), box=SIMPLE, title=escape(title))
    for request in requests:
        number, state, partitions, made, *counts, _, label = _row(request)
        colour, sign = SIGNS[state]
        counts = [made, request["runs"].get("skipped"), *counts]
        cells = [*(str(count or "") for count in counts), str(partitions), escape(label)]
        table.add_row(str(number), f"[{colour}]{sign} {state}[/]", *cells)
    errors = (Text(f"{one['id']}: {one['error']}", style="red") for one in requests if one["error"] is not None)
    return Group(table, *errors)


def _control(args: Namespace, operation: type[Operation]) -> None:
    """Tell each of the requests the same; one that is refused keeps none from the others."""
    requests: list[dict[str, Any]] = []
    refused: dict[int, str] = {}
    try:
        source = source_of(args)
    except PartitionError as error:
        sys.exit(str(error))
    for number in dict.fromkeys(args.numbers):
        try:
            requests.append(source.ask(asked(operation, args, request=number)))
        except PartitionError as error:
            refused[number] = str(error)
    rows = [*map(_row, requests), *([number, "refused", words] for number, words in refused.items())]
    answer = {"requests": requests, "refused": [{"id": number, "detail": words} for number, words in refused.items()]}
    if requests or args.output != "table":
        show(args.output, answer, rows, lambda: requests_table(requests, "requests"))
    if refused:
        several = len(args.numbers) > 1
        sys.exit("\n".join(f"{number}: {words}" if several else words for number, words in refused.items()))


def _row(request: dict[str, Any]) -> list[Any]:
    counts = [request["runs"].get(name, 0) for name in _RUNS]
    return [request["id"], request["state"], request["partitions"], *counts, request["by"], request["options"]["label"]]
