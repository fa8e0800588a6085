"""The site stands by itself: links lead somewhere, nothing comes from elsewhere, and its search knows the answers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import expect

from tests.docs.pages import ROOT
from tests.view.bundle import run
from tests.view.conftest import faults_of_access

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


#: Those that are written by hand.
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "reference" not in page.parts]


class Document(HTMLParser):
    """Ids, links, and what a browser loads by itself, of one file."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag in ("a", "area") and "href" in values:
            self.links.append(values["href"])
        self.loads += [values["src"]] if "src" in values else []
        self.loads += [values["href"]] if tag == "link" and "href" in values else []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    process = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert process.returncode == 0, process.stderr
    return folder


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[Path, Document]:
    return {file: Document(file) for file in site.rglob("*.html")}


def test_links_and_their_anchors_lead_somewhere(site: Path, documents: dict[Path, Document]) -> None:
    assert len(documents) > 60
    assert list(_dead(site, documents)) == []


def _dead(site: Path, documents: dict[Path, Document]) -> Iterator[str]:
    for file, document in documents.items():
        for link in [*document.links, *document.loads]:
            address = urlsplit(link)
            if address.scheme or file.name == "404.html":  # that page is served anywhere
                continue
            target = (file.parent / unquote(address.path)).resolve() if address.path else file
            anchors = documents[target].ids if target in documents else set()
            if not target.exists() or (address.fragment and unquote(address.fragment) not in anchors):
                yield f"{file.relative_to(site)}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_the_same_lists_tables_and_code_as_elsewhere(site: Path, page: Path) -> None:
    html = (site / page.relative_to(ROOT / "docs")).with_suffix(".html").read_text()
    article = html.partition("<article")[2].partition("</article>")[0]
    elsewhere = MarkdownIt("commonmark").enable("table").render(page.read_text())
    for part in ("<li>", "<ol>", "<table>", "<td", "<pre>", "<h3"):
        assert article.count(part) == elsewhere.count(part), part
    assert "\\|" not in "".join(re.findall(r"<td.*?</td>", article, re.DOTALL))


def test_a_word_of_ours_is_explained_where_it_stands(site: Path) -> None:
    explained = re.findall(r'<abbr title="([^"]+)">(\w[\w ]*)</abbr>', (site / "operate/tables.html").read_text())
    assert {"ledger", "state store"} <= {word for _, word in explained}
    assert "abbr" not in (site / "concepts/glossary.html").read_text()


def test_nothing_is_loaded_from_elsewhere(site: Path, documents: dict[Path, Document]) -> None:
    loads = {load for document in documents.values() for load in document.loads}
    assert [load for load in loads if urlsplit(load).scheme or load.startswith("//")] == []
    styles = "".join(file.read_text() for file in site.rglob("*.css"))
    assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*|@import[^;]*", styles) == []


def test_the_inventory_has_each_public_name_at_its_place(site: Path, documents: dict[Path, Document]) -> None:
    head, _, body = (site / "objects.inv").read_bytes().partition(b"zlib.\n")
    assert b"# Project: airflow-partitions" in head
    entries = dict(re.findall(r"^(\S+) py:\w+ \S+ (\S+) ", zlib.decompress(body).decode(), re.MULTILINE))
    for name in ("asset", "PartitionByInterval", "storage.Parquet", "storage.Storage.freeze", "checks.RowCount"):
        page, _, anchor = entries[f"airflow_partitions.{name}"].partition("#")
        anchor = anchor.replace("$", f"airflow_partitions.{name}")
        assert anchor in documents[site / page].ids
    assert [entry for entry in entries.values() if site / entry.partition("#")[0] not in documents] == []


def test_constructors_that_attrs_writes_have_their_arguments(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "reference/rules.html").read_text())
    assert re.search(r"Lookback\(\s*n: int", text)
    assert "Parameters:" in text


def test_each_page_says_whom_it_is_for() -> None:
    pages = [page for page in (ROOT / "docs").rglob("*.md") if re.search(r"^# ", page.read_text())]
    silent = {page.name for page in pages if not re.search(r"^For ", _opening(page), re.MULTILINE)}
    assert silent <= {"view.md", "batches.md", "dbt.md", "engines.md", "any-engine.md"}  # their first sentence does


def _opening(page: Path) -> str:
    """What stands between the title and the next heading."""
    return re.split(r"^## ", page.read_text(), maxsplit=1, flags=re.MULTILINE)[0]


#: What strangers asked, and the page that answers.
QUESTIONS = {
    "port 8080": "operate/troubleshooting.html#invalid-auth-token-at-once-in-every-task",
    "asset vanished": "operate/troubleshooting.html#an-asset-has-vanished",
    "parent folder is missing": "operate/troubleshooting.html#its-parent-folder-is-missing",
    "unpause": "operate/filling.html#before-a-dag-is-unpaused",
    "TaskFlow logical_date": "guides/templates.html#parameters-of-a-taskflow-function",
    "poke_interval": "guides/consuming.html#waiting-for-partitions",
    "how many partitions": "operate/sizing.html#how-many-partitions",
    "which Airflow version": "operate/versions.html",
    "upkeep systemd kubernetes": "operate/sizing.html#upkeep",
    "security rights": "operate/security.html#rights",
    "what should I monitor": "operate/monitoring.html",
    "how to upgrade": "operate/upgrade.html",
    "how to test my function": "tutorials/flights.html#test-a-function",
    "uninstall": "operate/tables.html#uninstall",
}


@pytest.fixture(scope="module")
def reader(site: Path, browser: Browser) -> Page:
    """The site opened from its file, without a server or a network."""
    page = browser.new_page(offline=True)
    page.goto((site / "index.html").as_uri())
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(site: Path, browser: Browser, scheme: Literal["light", "dark"]) -> None:
    run(str(ROOT / "tools" / "node_modules.sh"))  # axe is there
    page = browser.new_page(color_scheme=scheme)
    for name in ("start", "operate/sizing", "reference/definitions"):
        page.goto((site / f"{name}.html").as_uri())
        assert faults_of_access(page) == [], name


@pytest.mark.parametrize(("question", "answer"), QUESTIONS.items(), ids=QUESTIONS)
def test_the_search_answers_a_stranger(reader: Page, question: str, answer: str) -> None:
    hits = reader.locator(".md-search-result__item")
    for text in ("", question):
        reader.locator("input[name=query]").fill(text)
        reader.keyboard.press("Shift")  # the search begins when a key is let go
        expect(hits).not_to_have_count(0) if text else expect(hits).to_have_count(0)
    links = hits.evaluate_all(
        "hits => hits.slice(0, 3).flatMap(hit => [...hit.querySelectorAll('a')].map(a => a.href))"
    )
    places = [urlsplit(link)._replace(query="").geturl() for link in links]  # a query says what to highlight
    assert any(place.endswith(answer) for place in places), places
