"""Our docstrings, for mkdocstrings: reST as Markdown, and constructors that no source has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from textwrap import dedent, indent
from typing import Any

import attrs
import griffe

PACKAGE = "airflow_partitions"
#: Whose names the reference shows.
PUBLIC = (
    "",
    ".authoring.local",
    ".checks",
    ".core.errors",
    ".frames",
    ".spark",
    ".spark.engines",
    ".storage",
    ".testing",
)
_CODE = re.compile(r"^( *)\.\. code-block:: (\w+)\n\n((?:\1 {4}.*\n?|\s*\n)+)", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Changes what is read of the package before anything of it is shown."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        if pkg.name != PACKAGE:
            return
        classes = dict(public_classes(loader))
        for described, runtime in classes.items():
            add_constructor(described, runtime)
        names = {path.rpartition(".")[2]: path for path in public_names()}
        for documented in members(pkg):
            if documented.docstring is not None:
                documented.docstring.value = markdown(documented.docstring.value, names)


def public_names() -> Iterator[str]:
    """Paths of what the reference shows, the nearest to the package last."""
    for name in reversed(PUBLIC):
        module = import_module(f"{PACKAGE}{name}")
        for member in getattr(module, "__all__", None) or [one for one in vars(module) if one.endswith("Error")]:
            yield f"{module.__name__}.{member}"


def public_classes(loader: griffe.GriffeLoader) -> Iterator[tuple[griffe.Object, type]]:
    """Each class of these, as read from its source and as it is."""
    loader.resolve_aliases(implicit=True, external=False)
    for path in public_names():
        module, _, name = path.rpartition(".")
        runtime = getattr(import_module(module), name)
        described = loader.modules_collection[path]
        described = described.final_target if isinstance(described, griffe.Alias) else described
        if inspect.isclass(runtime) and described.is_class and not issubclass(runtime, (BaseException, Enum)):
            yield described, runtime
            yield from ((inner, getattr(runtime, inner.name)) for inner in described.classes.values())


def add_constructor(described: griffe.Object, runtime: type) -> None:
    """The call of a class whose source has none, and what its bases say of the arguments."""
    call = inspect.signature(runtime)
    if call.parameters and "__init__" not in described.members:
        constructor = griffe.Function("__init__", parameters=griffe.Parameters(*parameters(runtime, call)))
        described.set_member("__init__", constructor)
    own = described.docstring
    if own is None:
        return
    known = set(re.findall(r"^:(?:param|ivar) (\w+):", own.value, re.MULTILINE))
    for base in runtime.__mro__[1:]:
        if not base.__module__.startswith(f"{PACKAGE}."):
            continue
        for name, text in arguments(base.__doc__):
            if name in call.parameters and name not in known:
                known.add(name)
                own.value += f"\n:param {name}: {indent(text, '    ').strip()}"


def arguments(docstring: str | None) -> Iterator[tuple[str, str]]:
    """What a *docstring* says of each argument."""
    for section in griffe.parse_sphinx(griffe.Docstring(inspect.cleandoc(docstring or "")), warnings=False):
        if section.kind.value in ("parameters", "attributes"):
            yield from ((item.name, item.description) for item in section.value)


def parameters(runtime: type, call: inspect.Signature) -> Iterator[griffe.Parameter]:
    """The arguments that attrs gives a constructor, with the defaults that a reader would write."""
    factories = {
        field.alias: field.default.factory()
        for field in (attrs.fields(runtime) if attrs.has(runtime) else ())
        if field.init and isinstance(field.default, attrs.Factory) and not field.default.takes_self
    }
    yield griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
    for parameter in call.parameters.values():
        default = factories.get(parameter.name, parameter.default)
        default = default.value if isinstance(default, Enum) else default
        shown = "..." if default is attrs.NOTHING else repr(default)  # one that depends on the other arguments
        annotation = parameter.annotation
        yield griffe.Parameter(
            parameter.name,
            kind=griffe.ParameterKind(parameter.kind.description),
            annotation=annotation if isinstance(annotation, str) else inspect.formatannotation(annotation),
            default=None if default is parameter.empty else shown,
        )


def members(parent: griffe.Object) -> Iterator[griffe.Object]:
    """An object and all that its source has in it."""
    yield parent
    for member in parent.members.values():
        if not isinstance(member, griffe.Alias):
            yield from members(member)


def markdown(text: str, names: dict[str, str]) -> str:
    """reST as our docstrings have it, as Markdown."""

    def role(match: re.Match[str]) -> str:
        name = match[2].removeprefix("~").rpartition(".")[2]
        return f"[`{name}`][{names[name]}]" if name in names and match[1] != "meth" else f"`{name}`"

    def block(match: re.Match[str]) -> str:
        return indent(f"```{match[2]}\n{dedent(match[3]).strip()}\n```\n\n", match[1])

    parts = _CODE.split(text)
    prose = [re.sub(r"``(.+?)``", r"`\1`", re.sub(r":(\w+):`([^`]+)`", role, part)) for part in parts[::4]]
    codes = [block(match) for match in _CODE.finditer(text)]
    return "".join(one for pair in zip(prose, [*codes, ""], strict=True) for one in pair)
