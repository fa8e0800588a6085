"""Pages made while the site is built: commands, settings, routes, and files of the checkout that others link to."""

from __future__ import annotations

import inspect
import json
import os
import posixpath
import re
import tempfile
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
OPENAPI = ROOT / "airflow_partitions/view/www/openapi.json"
#: Where files of the checkout that are not below docs have their pages.
FILES = "files"
#: Words of ours that a page says without more ado: a reader sees what they mean where they stand.
HOUSE_WORDS = {"ledger", "pending row", "pin", "residual", "staging", "state store", "tick", "upkeep"}
GLOSSARY = ROOT / "docs/concepts/glossary.md"
_LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
_ROUTES = {"get", "post"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that no file holds."""
    outside = {path for file in files.documentation_pages() for path in linked(file.src_uri, file.content_string)}
    texts = {f"{FILES}/{page_of(path)}": shown(path) for path in sorted(outside)}
    with tempfile.TemporaryDirectory() as home:
        os.environ["AIRFLOW_HOME"] = home  # Airflow writes its settings when it is imported
        texts["reference/command-line.md"] = "\n".join(command_line())
        texts["reference/configuration.md"] = "\n".join(configuration())
    texts["reference/rest.md"] = "\n".join(rest())
    for uri, text in texts.items():
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to files of the checkout lead to their pages, and the search prefer what explains."""
    if page.file.src_uri.startswith(FILES):
        page.meta["search"] = {"exclude": True}
        return markdown
    if page.file.src_uri.startswith("reference/"):
        page.meta["search"] = {"boost": 0.1}

    def target(match: re.Match[str]) -> str:
        path = resolved(page.file.src_uri, match[2])
        if path is None:
            return match[0]
        there = posixpath.relpath(f"{FILES}/{page_of(path)}", posixpath.dirname(page.file.src_uri) or ".")
        return f"{match[1]}{there}{match[3]}"

    return "\n".join([_LINK.sub(target, markdown), "", *explained(page.file.src_uri)])


def explained(uri: str) -> Iterator[str]:
    """The words of the glossary that other pages explain where one points at them."""
    if ROOT / "docs" / uri == GLOSSARY:
        return
    for word, meaning in re.findall(r"^\| ([\w ]+) \| (.+) \|$", GLOSSARY.read_text(), re.MULTILINE):
        if word in HOUSE_WORDS:
            text = re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", meaning)
            yield from (f"*[{form}]: {text}" for form in (word, f"{word}s"))


def on_page_content(html: str, **_: Any) -> str:
    """A bar in the code of a table's cell is written with a backslash, which is not to be seen."""
    return re.sub(r"<td.*?</td>", lambda cell: cell[0].replace("\\|", "|"), html, flags=re.DOTALL)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search for those who don't see it; the theme leaves that out."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def linked(uri: str, text: str) -> Iterator[str]:
    """Files of the checkout, not of the docs, to which a page has links."""
    for match in _LINK.finditer(text):
        path = resolved(uri, match[2])
        if path is not None:
            yield path


def resolved(uri: str, target: str) -> str | None:
    """A link's file, from the top of the checkout; ``None`` if it is one of the docs."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(uri), target))
    return path if not path.startswith("docs/") and (ROOT / path).exists() else None


def page_of(path: str) -> str:
    """The name of the page that shows a file."""
    return path if path.endswith(".md") else f"{path}.md"


def shown(path: str) -> str:
    """A file as a page: Markdown as it is but for its links, anything else as code, a folder as a list."""
    file = ROOT / path
    if file.is_dir():
        return "\n".join([f"# {path}\n", *(f"* `{each.name}`" for each in sorted(file.iterdir()) if each.is_file())])
    text = file.read_text()
    if file.suffix == ".md":
        return re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", text)
    language = {".py": "python", ".yaml": "yaml", ".conf": "properties", ".env": "properties"}.get(file.suffix, "text")
    return f"# {path}\n\n```{language}\n{text}```\n"


def command_line() -> Iterator[str]:
    """The page of all commands, from their own help."""
    from airflow_partitions.operate.cli.commands import get_commands

    yield "# Command line\n\nFor those who look up a command: each with its arguments and examples."
    yield "How to use them is in [on the command line](../operate/command-line.md), and what they are for in"
    yield "[operate](../operate/index.md).\n"
    for group in get_commands():
        for command in getattr(group, "subcommands", ()):
            flags = {arg.flags: (arg.kwargs or {}) for arg in command.args}
            words = " ".join(usage(names, settings) for names, settings in flags.items())
            examples = inspect.cleandoc((command.epilog or "").strip().removeprefix("examples:"))
            yield f"## airflow {group.name} {command.name}\n\n{command.description or command.help}\n"
            yield f"```console\nairflow {group.name} {command.name} {words}\n```\n"
            yield from (f"* `{', '.join(names)}`: {settings.get('help', '')}" for names, settings in flags.items())
            yield f"\n```console\n{examples}\n```\n"


def usage(flags: tuple[str, ...], settings: Mapping[str, Any]) -> str:
    """An argument as it stands in a command."""
    if not flags[0].startswith("-"):
        return flags[0].upper()
    if settings.get("action") == "store_true":
        return f"[{flags[-1]}]"
    choices = "|".join(settings.get("choices") or ())
    return f"[{flags[-1]} {settings.get('metavar') or choices or flags[-1].strip('-').upper()}]"


def configuration() -> Iterator[str]:
    """The page of all settings, as the provider declares them."""
    from airflow_partitions.provider import get_provider_info

    yield "# Configuration\n\nFor administrators: settings of Airflow's configuration, which count for all assets.\n"
    for section, content in get_provider_info()["config"].items():
        for name, option in content["options"].items():
            variable = f"AIRFLOW__{section}__{name}".upper()
            yield f"## [{section}] {name}\n\n{option['description']} Type: {option['type']};"
            yield f"default: `{option['default']}`; environment variable: `{variable}`.\n"


def rest() -> Iterator[str]:
    """The page of all routes, from the OpenAPI document."""
    document = json.loads(OPENAPI.read_text())
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in _ROUTES
    ]
    yield "# REST\n\nFor those who write a client: all routes, below `/asset-partitions` of Airflow's API server."
    yield "How to call them is in [calls over REST](../operate/rest.md).\n"
    for (tag,), routes in groupby(sorted(operations, key=tags), tags):
        yield f"## {tag.capitalize()}\n"
        for method, path, operation in routes:
            yield f"### {method} {path}\n\n{operation.get('description', '')}\n"
            yield from (f"* `{name}`: {text}" for name, text in fields(operation, document["components"]["schemas"]))
            yield f"\nAnswers: {', '.join(operation['responses'])}.\n"


def tags(route: tuple[str, str, Mapping[str, Any]]) -> list[str]:
    """What a route is about."""
    return list(route[2]["tags"])


def fields(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a route takes: from its path, its query and its body."""
    for parameter in operation.get("parameters", ()):
        yield parameter["name"], parameter.get("description") or parameter["schema"].get("description", "")
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = schemas[content["schema"].get("$ref", "/").rpartition("/")[2]] if "$ref" in content["schema"] else {}
        for name, field in schema.get("properties", {}).items():
            yield name, field.get("description", "")
