"""``airflow asset-partitions list``, ``status`` and ``explain``."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from rich.box import SIMPLE
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from airflow_partitions.core.definitions import from_json
from airflow_partitions.core.definitions.definition_words import definition_words
from airflow_partitions.core.errors import PartitionError, SelectionError
from airflow_partitions.operate.cli.arguments import asked
from airflow_partitions.operate.cli.failures import failure_lines
from airflow_partitions.operate.cli.output import console, show
from airflow_partitions.operate.cli.selection import selected
from airflow_partitions.operate.cli.source import Source, source_of
from airflow_partitions.operate.cli.strip import LOOKS, legend, look, strips
from airflow_partitions.operate.cli.values import value_lines, value_rows
from airflow_partitions.operate.contract.assets import ListAssets, ShowAsset
from airflow_partitions.operate.contract.failures import ListFailures
from airflow_partitions.operate.contract.grid import MOST_COLUMNS
from airflow_partitions.operate.contract.late import ListLate
from airflow_partitions.operate.contract.orphans import ListOrphans
from airflow_partitions.operate.contract.states import CountStates, ListStates, ShowPartition
from airflow_partitions.operate.contract.values import ShowValues

_PAGE = 1_000
#: A strip without a terminal is no wider.
_WIDEST = 200
_STRIP = 10_000


def assets(args: Namespace) -> None:
    """Show the partitioned assets, each with its definition and its partitions by state."""
    source, answer, cursor = source_of(args), list[dict[str, Any]](), None
    try:
        while True:
            page = source.ask(asked(ListAssets, args, counts=True, cursor=cursor))
            answer += page["assets"]
            if (cursor := page["cursor"]) is None:
                break
    except PartitionError as error:
        sys.exit(str(error))
    rows = (
        [one["name"], *row]
        for one in answer
        for row in (_counts(one).items() if one["error"] is None else [("unknown", one["error"])])
    )
    show(args.output, {"assets": answer}, rows, lambda: _asset_table(answer))


def status(args: Namespace) -> None:
    """Show the states of an asset's partitions; exit status 1 if not all are there as they should be."""
    source = source_of(args)
    try:
        select = _selection(args)
        asset = source.ask(asked(ShowAsset, args))
        counts = source.ask(asked(CountStates, args, select=select))
        stretches = list(_stretches(source, args, select, args.limit))
        late, orphans = source.ask(asked(ListLate, args)), source.ask(asked(ListOrphans, args))
        failed = "failed" in counts["counts"]
        failures = source.ask(ListFailures.of(asset=[args.asset]))["failures"] if failed else []
        values = _values(source, args, select)
        shown = stretches
        if args.output == "table" and (args.states or len(stretches) >= args.limit):
            shown = list(_stretches(source, Namespace(asset=args.asset, states=None), select, _STRIP))
    except PartitionError as error:
        sys.exit(str(error))
    answer = {**counts, "stretches": stretches, **late, **orphans, "failures": failures}
    answer |= {} if values is None else {"values": values}
    rows = ([one["state"], one["first"], one["last"], one["count"]] for one in stretches)
    lines = rows if values is None else value_rows(values)
    show(args.output, answer, lines, lambda: _status_table(asset, answer, shown, args.limit))
    sys.exit(0 if set(counts["counts"]) == {"materialized"} else 1)


def explain(args: Namespace) -> None:
    """Show all that is known of one partition, and why it is what it is."""
    try:
        answer = source_of(args).ask(asked(ShowPartition, args))
    except PartitionError as error:
        sys.exit(str(error))
    rows = ([reason] for reason in answer["reasons"])
    show(args.output, answer, rows, lambda: _explanation(answer))


def _selection(args: Namespace) -> str | None:
    """The selection that the arguments ask for, as text."""
    select = selected(args)
    if args.start is None and args.until is None:
        return select
    span = f"{args.start or ''}..{args.until or ''}"
    if select is not None and ";" in select:
        raise SelectionError(f"{select!r} has several parts; say the time in each of them, as {span}")
    return span if select is None else f"{span} & {select}"


def _values(source: Source, args: Namespace, select: str | None) -> dict[str, Any] | None:
    """The value of each partition that is asked for; ``None`` if none is."""
    if args.value is None:
        return None
    columns = _strip_width() if args.output == "table" else MOST_COLUMNS
    view = {"select": select, "start": args.start, "end": args.until, "columns": columns, "row_limit": _PAGE}
    values: dict[str, Any] | None = None
    while True:
        cursor = None if values is None else values["row_cursor"]
        page = source.ask(ShowValues.of(asset=args.asset, value=args.value, row_cursor=cursor, **view))
        values = page if values is None else page | {"rows": values["rows"] + page["rows"]}
        if page["row_cursor"] is None:
            return values


def _strip_width() -> int:
    return max(20, min(console().width, _WIDEST) - 2)


def _stretches(source: Source, args: Namespace, select: str | None, most: int) -> Iterator[dict[str, Any]]:
    """The stretches of all pages, the newest first, up to so many."""
    cursor, left = None, most
    while left > 0:
        limit = min(left, _PAGE)
        page = source.ask(asked(ListStates, args, select=select, limit=limit, cursor=cursor))
        yield from page["stretches"][:left]
        left -= len(page["stretches"])
        if (cursor := page["cursor"]) is None:
            return


def _asset_table(answer: Sequence[Mapping[str, Any]]) -> Table:
    counts = [_counts(one) for one in answer]
    states = [state for state in LOOKS if any(state in some for some in counts)]
    columns = [Column(look(state), justify="right") for state in states]
    table = Table(Column("asset", overflow="fold"), *columns, box=SIMPLE)
    for one, some in zip(answer, counts, strict=True):
        words = definition_words(from_json(one["definition"]["form"]))
        name = Text(one["name"], style="bold").append(f"\n{words}", style="not bold dim")
        for dag in one["absent"]:
            name.append(f"\n{dag['text']}", style="not bold red")
        if one["error"] is not None:
            name.append(f"\n{one['error']}", style="not bold red")
        table.add_row(name, *(f"{some[state]:,}" if state in some else "" for state in states))
    return table


def _counts(asset: Mapping[str, Any]) -> Mapping[str, int]:
    """The numbers of an asset's partitions by state; none if they can't be told."""
    return {} if asset["counts"] is None else asset["counts"]["counts"]


def _status_table(
    asset: Mapping[str, Any],
    answer: Mapping[str, Any],
    shown: Sequence[Mapping[str, Any]],
    limit: int,
) -> RenderableType:
    stretches = answer["stretches"]
    width = _strip_width()
    oldest_first = list(reversed(shown))
    strip = strips(from_json(asset["definition"]["form"]), oldest_first, width)
    parts: list[RenderableType] = [
        Text(answer["asset"], style="bold"),
        *strip,
        legend(answer["counts"]),
        *(value_lines(answer["values"], width) if "values" in answer else ()),
        _table(stretches),
    ]
    if not stretches:
        parts.append("nothing is known of any partition; --from says where to begin")
    if answer["provisional"]:
        parts.append(f"{answer['provisional']:,} of them were made before their interval was over")
    parts += (
        Text(f"{late['count']:,} late, due by {late['due']}: {late['partitions']}", style="red")
        for late in filter(itemgetter("count"), answer["deadlines"])
    )
    parts += failure_lines(answer["failures"])
    for orphan in answer["orphans"]:
        ends = f"{orphan['first']} to {orphan['last']}"
        parts.append(Text(f"{orphan['count']:,} orphaned, of an older definition: {ends}", style="dim"))
    if len(stretches) >= limit:
        parts.append(f"the {limit:,} newest; --limit shows more")
    return Group(*parts)


def _table(stretches: Sequence[Mapping[str, Any]]) -> Table:
    more = [(title, texts) for title, texts in (("of", _segments), ("lacks", _lacks)) if any(map(texts, stretches))]
    table = Table(*_columns("state", "first", "last"), "number", *(title for title, _ in more), box=SIMPLE)
    for one in stretches:
        state = look(one["state"]).append(" (provisional)" if one.get("provisional") else "")
        columns = (texts(one) for _, texts in more)
        table.add_row(state, escape(one["first"]), escape(one["last"]), f"{one['count']:,}", *columns)
    return table


def _columns(*titles: str) -> Iterator[Column]:
    """Columns of states and keys, which are to be copied whole."""
    return (Column(title, no_wrap=True) for title in titles)


def _segments(stretch: Mapping[str, Any]) -> str:
    some = stretch.get("segments", {})
    return escape("; ".join(f"{name} {', '.join(texts)}" for name, texts in some.items()))


def _lacks(stretch: Mapping[str, Any]) -> str:
    upstream = [one for one in stretch.get("upstream", ()) if one["there"] < one["needed"]]
    of = " together" if stretch["count"] > 1 else ""
    counts = (f"{one['asset']} {one['there']:,} of {one['needed']:,}{of}: {one['lacks']}" for one in upstream)
    return escape("\n".join(counts))


def _explanation(answer: Mapping[str, Any]) -> RenderableType:
    title = look(answer["state"]).append(f"  {answer['asset']} {answer['key']}", style="default")
    parts: list[RenderableType] = [title]
    if answer["start"] is not None:
        parts.append(Text(f"from {answer['start']} until {answer['end']}", style="dim"))
    parts += (Text(f"• {reason}") for reason in answer["reasons"])
    for title_text, name in (("needs", "upstream"), ("is needed by", "downstream")):
        if answer[name]:
            parts.append(_neighbours(title_text, answer[name]))
    if answer["runs"]:
        parts.append(_runs(answer["runs"]))
    if answer["events"]:
        parts.append(_events(answer["events"]))
    return Group(*parts)


def _neighbours(title: str, neighbours: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title, *_columns("state", "first", "last"), "number", box=SIMPLE, padding=0, pad_edge=False)
    for one in neighbours:
        name = f"{one['asset']}: {one['count']:,}"
        for stretch in one["stretches"]:
            ends = escape(stretch["first"]), escape(stretch["last"])
            table.add_row(escape(name), look(stretch["state"]), *ends, f"{stretch['count']:,}")
            name = ""
        if one["more"] or not one["stretches"]:
            table.add_row(escape(name), "…" if one["more"] else "none is there yet", "", "", "")
    return table


def _runs(runs: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("run", "state", "tries", "began", "ended", box=SIMPLE)
    for run in runs:
        ends = (_time(run[name]) for name in ("began", "ended"))
        table.add_row(escape(f"{run['dag_id']} {run['run_id']}"), run["state"], str(run["tries"]), *ends)
    return table


def _events(events: Sequence[Mapping[str, Any]]) -> Table:
    unproven = ["reads"] if any(event.get("unproven") for event in events) else []
    table = Table("materialized", "rows", "files", "bytes", *unproven, "by", box=SIMPLE)
    for event in events:
        numbers = (str(event["extra"].get(name, "")) for name in ("rows", "files", "bytes"))
        reads = [escape(f"not proven: {name}") if (name := event.get("unproven")) else ""] if unproven else []
        table.add_row(_time(event["at"]), *numbers, *reads, escape(event.get("by") or event["run_id"] or "outside"))
    return table


def _time(text: str | None) -> str:
    return "" if text is None else text[:19].replace("T", " ")
