"""The pages a reader sees, at the top and in docs, taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Made while the site is built; their links are looked at there.
GENERATED = {ROOT / f"docs/reference/{name}.md" for name in ("command-line", "configuration", "rest")}

_markdown = MarkdownIt("commonmark").enable("table")
_FILE = re.compile(r"<!-- (file|from): (\S+) -->")


class Block(NamedTuple):
    """A fenced block: its language and text. A comment above may name the file it is to be, or was taken from."""

    page: str
    line: int
    language: str
    text: str
    file: str | None = None
    taken_from: str | None = None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """All fenced blocks in these languages, of all pages."""
    return [block for page in PAGES for block in _blocks(page) if block.language in languages]


def _blocks(page: Path) -> Iterator[Block]:
    labels: dict[str, str] = {}
    for token in _markdown.parse(page.read_text()):
        match = _FILE.search(token.content) if token.type == "html_block" else None
        if token.type == "fence" and token.map is not None:
            block = Block(page.name, token.map[0] + 1, token.info, token.content)
            yield block._replace(file=labels.get("file"), taken_from=labels.get("from"))
        labels = {match[1]: match[2]} if match else {}


def links(page: Path) -> list[str]:
    """Targets of all links and pictures."""
    inline = [child for token in _markdown.parse(page.read_text()) for child in token.children or ()]
    return [
        str(token.attrs.get("href") or token.attrs.get("src"))
        for token in inline
        if token.type in ("link_open", "image")
    ]


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that headings get, and names of the reference."""
    tokens = _markdown.parse(page.read_text())
    titles = [_text(tokens[i + 1]) for i, token in enumerate(tokens) if token.type == "heading_open"]
    names = re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles} | set(names)


def tables(page: Path, *header: str) -> list[list[list[str]]]:
    """Rows of the table with this *header*: of each cell its code spans, or its text if it has none."""
    rows: list[list[list[str]]] = []
    for token in _markdown.parse(page.read_text()):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            spans = [child.content for child in token.children or () if child.type == "code_inline"]
            rows[-1].append(spans or [token.content])
        elif token.type == "table_close":
            if [cell[0] for cell in rows[0]] == list(header):
                return rows[1:]
            rows = []
        elif token.type == "table_open":
            rows = []
    raise AssertionError(f"{page.name} has no table with the header {header}")


def _text(token: Token) -> str:
    return "".join(child.content for child in token.children or ())
