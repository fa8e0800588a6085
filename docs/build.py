"""Makes docs/reference.md from the docstrings and signatures of the public names.

python docs/build.py           write it
python docs/build.py --check   exit 1 if it is out of date
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from textwrap import dedent
from typing import Any

import attrs
import griffe

PAGE = Path(__file__).with_name("reference.md")
INTRO = """\
# Reference

Made by `make docs` from the docstrings. What the words mean is in [concepts](concepts/concepts.md); Spark has
[a page of its own](guides/spark.md).
"""
#: Headings; below each the full names, in order, and which members are shown: None for all.
#: A name without a colon is a module, whose docstring introduces what comes after it.
SECTIONS: Mapping[str, Mapping[str, tuple[str, ...] | None]] = {
    "Assets and Dags": {
        "airflow_partitions:asset": (),
        "airflow_partitions:asset.multi": (),
        "airflow_partitions:spark_asset": (),
        "airflow_partitions:spark_asset.script": (),
        "airflow_partitions:StoredFrame": (),
        "airflow_partitions:Partitioned": ("due",),
        "airflow_partitions:INFER": (),
    },
    "Definitions": {
        "airflow_partitions:PartitionByInterval": ("start", "end", "first", "last", "key_at"),
        "airflow_partitions:PartitionBySequence": ("values",),
        "airflow_partitions:PartitionByProduct": ("first", "last", "key_at", "combinations"),
        "airflow_partitions:PartitionAtRuntime": (
            "add_partition",
            "add_partitions",
            "remove_partition",
            "partitions",
        ),
        "airflow_partitions:PartitionDefinition": None,
        "airflow_partitions.core.definitions:from_json": (),
    },
    "Keys": {
        "airflow_partitions:Interval": ("start", "end", "overlaps"),
        "airflow_partitions:PartitionKey": (),
        "airflow_partitions:ProductKey": ("parts",),
        "airflow_partitions:Segment": (),
    },
    "The partition of a run": {
        "airflow_partitions:Partition": None,
        "airflow_partitions:RunPartition": ("upstream", "upstream_at_start"),
        "airflow_partitions:materialized": (),
    },
    "Dependencies": {
        "airflow_partitions:Dependency": None,
        "airflow_partitions:Selection": None,
        "airflow_partitions:KeyFormat": ("text", "keys"),
    },
    "Rules": {
        "airflow_partitions:Lookback": (),
        "airflow_partitions:Previous": (),
        "airflow_partitions:Window": (),
        "airflow_partitions:AllPartitions": (),
        "airflow_partitions:LatestPartition": (),
        "airflow_partitions:SameKey": (),
        "airflow_partitions:SegmentMap": (),
        "airflow_partitions:ByDimension": (),
        "airflow_partitions:Unpartitioned": (),
        "airflow_partitions:KeyRule": ("upstream", "downstream"),
        "airflow_partitions:Rule": ("moving", "fan_out", "to_json", "from_json"),
        "airflow_partitions:Sides": (),
        "airflow_partitions:register_rules": (),
    },
    "When a partition is made again": {"airflow_partitions:AtLeast": (), "airflow_partitions:Within": ()},
    "Storage": {
        "airflow_partitions.storage:Storage": (
            "of",
            "path_of",
            "exists",
            "get",
            "get_many",
            "list",
            "load",
            "read",
            "save",
            "freeze",
            "release",
            "to_json",
            "from_json",
        ),
        "airflow_partitions.storage:Files": ("table", "build_index"),
        "airflow_partitions.storage:Parquet": (),
        "airflow_partitions.storage:Csv": (),
        "airflow_partitions.storage:Json": (),
        "airflow_partitions.storage:Orc": (),
        "airflow_partitions.storage:Avro": (),
        "airflow_partitions.storage:Text": (),
        "airflow_partitions.storage:Iceberg": (),
        "airflow_partitions.storage:Maintenance": (),
        "airflow_partitions.storage:Ownership": (),
        "airflow_partitions.storage:Column": (),
        "airflow_partitions.storage:FilePerKey": (),
        "airflow_partitions.storage:Layout": None,
    },
    "Checks": {
        "airflow_partitions.checks:RowCount": (),
        "airflow_partitions.checks:RowCountChange": (),
        "airflow_partitions.checks:SameRowCount": (),
        "airflow_partitions.checks:NotNull": (),
        "airflow_partitions.checks:Unique": (),
        "airflow_partitions.checks:ValueRange": (),
        "airflow_partitions.checks:AcceptedValues": (),
        "airflow_partitions.checks:Freshness": (),
        "airflow_partitions.checks:ExactSchema": (),
        "airflow_partitions.checks:FunctionCheck": (),
        "airflow_partitions.checks:SchemaCheck": (),
        "airflow_partitions.checks:Check": ("name", "expected", "columns", "by_statistics", "by_rows"),
        "airflow_partitions.checks:StagedPartition": None,
        "airflow_partitions.checks:Observation": (),
        "airflow_partitions.checks:CheckResult": (),
    },
    "Selecting and reading": {
        "airflow_partitions.storage:field": (),
        "airflow_partitions.storage:Filter": None,
        "airflow_partitions.storage:prune": (),
        "airflow_partitions.storage:input_filter": (),
        "airflow_partitions.storage:output_key": (),
        "airflow_partitions.storage:ddl": (),
        "airflow_partitions.storage:ReadRequest": (),
        "airflow_partitions.storage:Reader": (),
        "airflow_partitions.storage:register_reader": (),
    },
    "Changing": {
        "airflow_partitions.storage:WriteRequest": ("check",),
        "airflow_partitions.storage:StagedFiles": (),
        "airflow_partitions.storage:Shape": (),
        "airflow_partitions.storage:Writer": ("check", "write", "write_many"),
        "airflow_partitions.storage:register_writer": (),
        "airflow_partitions.storage:write_many": (),
        "airflow_partitions.storage:Commit": None,
        "airflow_partitions.storage:Attempt": (),
        "airflow_partitions.storage:compact": (),
        "airflow_partitions.storage:maintain_table": (),
        "airflow_partitions.storage:drop_older": (),
        "airflow_partitions.storage:clean": (),
    },
    "Consuming": {
        "airflow_partitions.storage:Consumer": None,
        "airflow_partitions.storage:Batch": None,
        "airflow_partitions.storage:Ready": (),
        "airflow_partitions.storage:up_to_bytes": (),
    },
    "Arrival": {
        "airflow_partitions.authoring.arrival": (),
        "airflow_partitions:PartitionSensor": (),
        "airflow_partitions:watched": (),
    },
    "Deadlines": {"airflow_partitions:PartitionDeadline": ()},
    "In other Dags": {"airflow_partitions:MaterializedSensor": (), "airflow_partitions:Materialize": ()},
    "Frames": {
        "airflow_partitions.frames:Frame": (),
        "airflow_partitions.frames:Result": ("summary",),
        "airflow_partitions.frames:Reads": (),
    },
    "Spark": {
        "airflow_partitions.spark.running_job": (),
        "airflow_partitions.spark:job": (),
        "airflow_partitions.spark:Job": ("partition", "inputs", "read", "write"),
        "airflow_partitions.spark:explore": (),
        "airflow_partitions.spark:SparkAssetOperator": (),
        "airflow_partitions.spark:JobResult": ("summary",),
    },
    "Local loop": {
        "airflow_partitions:try_partition": (),
        "airflow_partitions:Trial": (),
    },
    "Pytest fixtures": {
        "airflow_partitions.testing": (),
        "airflow_partitions.testing:partition_trial": (),
        "airflow_partitions.testing:partition_spark": (),
    },
}
WIDTH = 100


def page() -> str:
    """The whole text."""
    parts = [INTRO, contents()]
    for heading, names in SECTIONS.items():
        parts.append(f"## {heading}\n")
        parts += [text for name, members in names.items() for text in entry(name, members)]
    parts += ["## Errors\n", *errors(), "## Command line\n", *commands(), "## Configuration\n", *options()]
    return "\n".join(part.rstrip() + "\n" for part in parts if part.strip())


def contents() -> str:
    headings = [*SECTIONS, "Errors", "Command line", "Configuration"]
    return "\n".join(f"* [{heading}](#{anchor(heading)})" for heading in headings) + "\n"


def entry(name: str, members: tuple[str, ...] | None) -> Iterator[str]:
    """One public name, and its members."""
    module, _, shown = name.partition(":")
    if not shown:  # what a module says about itself
        yield from described(import_module(module))
        return
    thing = resolve_name(name)
    yield f"### {shown}\n"
    yield f"`from {module} import {shown.partition('.')[0]}`\n"
    yield from documented(thing, shown)
    for member in public(thing) if members is None else members:
        yield f"#### {shown}.{member}\n"
        yield from documented(getattr(thing, member), member)


def documented(thing: Any, name: str) -> Iterator[str]:
    """Signature, text and parameters."""
    if not (callable(thing) or isinstance(thing, property)):
        yield from described(thing)
        return
    function = inspect.unwrap(thing)
    if isinstance(thing, property) and thing.fget is not None:
        yield f"```python\n{name}: {thing.fget.__annotations__['return']}\n```\n"
    elif inspect.signature(function).parameters:
        yield f"```python\n{signature(function, name)}\n```\n"
    bases = [base for base in getattr(function, "__mro__", ())[1:] if base.__module__.startswith("airflow_partitions.")]
    parameters = inspect.signature(function).parameters if bases else ()
    texts = {name: text for base in reversed(bases) for name, text in named(parsed(base.__doc__)) if name in parameters}
    yield from described(function, texts)


def described(thing: Any, inherited: Mapping[str, str] | None = None) -> Iterator[str]:
    """The docstring. What is *inherited* about parameters comes after what it says itself."""
    sections = parsed(inspect.getdoc(thing))
    yield "\n\n".join(markdown(section.value) for section in sections if section.kind.value == "text") + "\n"
    descriptions = dict(named(sections))
    descriptions |= {name: text for name, text in (inherited or {}).items() if name not in descriptions}
    if descriptions:
        items = {name: markdown(text).partition("\n\n") for name, text in descriptions.items()}
        yield "\n".join(f"* `{name}`: {text}".replace("\n", "\n  ") for name, (text, _, _) in items.items()) + "\n"
        yield "\n".join(after for _, _, after in items.values() if after) + "\n"  # what follows the list
    for returned in of_kind(sections, "returns"):
        yield f"Returns {markdown(returned.description)}\n"
    raised = [f"* `{error.annotation}`: {markdown(error.description)}" for error in of_kind(sections, "raises")]
    if raised:
        yield "Raises:\n\n" + "\n".join(raised).replace("\n ", " ") + "\n"


def parsed(text: str | None) -> list[Any]:
    return griffe.parse_sphinx(griffe.Docstring(inspect.cleandoc(text or "")), warnings=False)


def named(sections: Iterable[Any]) -> list[tuple[str, str]]:
    return [(i.name, i.description) for kind in ("parameters", "attributes") for i in of_kind(sections, kind)]


def of_kind(sections: Iterable[Any], kind: str) -> list[Any]:
    return [item for section in sections if section.kind.value == kind for item in section.value]


def signature(function: Any, name: str) -> str:
    """The call, with types and defaults; on one line if it fits."""
    call = inspect.signature(function)
    fields = attrs.fields(function) if inspect.isclass(function) and attrs.has(function) else ()
    factories = {
        f.alias: f.default.factory()
        for f in fields
        if f.init and isinstance(f.default, attrs.Factory) and not f.default.takes_self
    }
    words: list[str] = []
    for parameter in call.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not any(word.startswith("*") for word in words):
            words.append("*")
        kind = "" if parameter.annotation is parameter.empty else f": {plain(parameter.annotation)}"
        default = factories.get(parameter.name, parameter.default)
        default = default.value if isinstance(default, Enum) else default
        shown = "..." if default is attrs.NOTHING else repr(default)  # one that depends on the other arguments
        value = "" if default is parameter.empty else f" = {shown}"
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        if parameter.name not in ("self", "cls"):
            words.append(f"{star}{parameter.name}{kind}{value}")
    returned = call.return_annotation if inspect.isroutine(function) else call.empty
    arrow = "" if returned is call.empty else f" -> {plain(returned)}"
    line = f"{name}({', '.join(words)}){arrow}"
    return line if len(line) <= WIDTH else f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){arrow}"


def plain(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def public(thing: Any) -> list[str]:
    """Names of a class's own members that have a docstring of their own."""
    members = {name: inspect.unwrap(getattr(thing, name)) for name in vars(thing) if not name.startswith("_")}
    return [
        name
        for name, member in members.items()
        if (inspect.isroutine(member) or isinstance(member, property)) and member.__doc__
    ]


def errors() -> Iterator[str]:
    from airflow_partitions.core import errors as module

    yield from described(module)
    for name, error in vars(module).items():
        if inspect.isclass(error):
            yield f"### {name}\n"
            bases = ", ".join(f"`{base.__name__}`" for base in error.__bases__)
            yield f"`from airflow_partitions.core.errors import {name}`; bases: {bases}\n"
            yield from described(error)


def commands() -> Iterator[str]:
    from airflow_partitions.operate.cli.commands import get_commands

    for group in get_commands():
        for command in group.subcommands:
            flags = {arg: (arg.kwargs or {}) for arg in command.args}
            words = " ".join(word for arg, how in flags.items() for word in usage(arg.flags, how))
            yield f"### airflow {group.name} {command.name}\n"
            yield f"{command.description or command.help}\n"
            yield f"```console\nairflow {group.name} {command.name} {words}\n```\n"
            yield "\n".join(f"* `{', '.join(arg.flags)}`: {how.get('help', '')}" for arg, how in flags.items()) + "\n"
            examples = inspect.cleandoc((command.epilog or "").strip().removeprefix("examples:"))
            yield f"```console\n{examples}\n```\n"


def usage(flags: tuple[str, ...], how: Mapping[str, Any]) -> Iterator[str]:
    if not flags[0].startswith("-"):
        yield flags[0].upper()
    elif how.get("action") == "store_true":
        yield f"[{flags[-1]}]"
    else:
        choices = "|".join(how.get("choices") or ())
        yield f"[{flags[-1]} {how.get('metavar') or choices or flags[-1].strip('-').upper()}]"


def options() -> Iterator[str]:
    from airflow_partitions.provider import get_provider_info

    for section, content in get_provider_info()["config"].items():
        yield f"{content['description']}\n"
        for name, option in content["options"].items():
            variable = f"AIRFLOW__{section}__{name}".upper()
            yield f"### [{section}] {name}\n"
            yield (
                f"{option['description']} Type: {option['type']}; default: `{option['default']}`;"
                f" environment variable: `{variable}`.\n"
            )


def markdown(text: str) -> str:
    """reST as our docstrings have it, as Markdown."""
    blocks = re.split(r"\.\. code-block:: (\w+)\n\n((?:(?: {4}.*)?\n?)+)", text)
    out = inline(blocks[0])
    for language, code, rest in zip(blocks[1::3], blocks[2::3], blocks[3::3], strict=True):
        out += f"```{language}\n{dedent(code).strip()}\n```\n\n{inline(rest)}"
    return out.strip()


def inline(text: str) -> str:
    text = re.sub(r":(\w+):`([^`]+)`", lambda match: role(match[1], match[2]), text)
    return re.sub(r"``(.+?)``", r"`\1`", text)


def role(kind: str, target: str) -> str:
    """A link, if this page has what is meant; methods are near."""
    name = target.removeprefix("~").rpartition(".")[2]
    shown = [full.partition(":")[2] for names in SECTIONS.values() for full in names]
    return f"[`{name}`](#{anchor(name)})" if name in shown and kind != "meth" else f"`{name}`"


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def main() -> int:
    parser = argparse.ArgumentParser(description="Make docs/reference.md from the docstrings.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file is out of date")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as home:
        os.environ["AIRFLOW_HOME"] = home  # Airflow writes its settings when it is imported
        text = page()
    if not check:
        PAGE.write_text(text)
        return 0
    if PAGE.exists() and PAGE.read_text() == text:
        return 0
    print(f"{PAGE.name} is out of date; make it again: make docs", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
