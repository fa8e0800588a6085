"""One server with the estate and one browser, for all tests of the view; each test has partitions of its own there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page
from sqlalchemy import Engine, create_engine

from tests.metadata import Metadata
from tests.view.browser import KeptPages, chromium
from tests.view.bundle import ROOT, WWW, run
from tests.view.running_server import RunningServer, free_port


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The server of all tests."""
    run(str(ROOT / "tools" / "node_modules.sh"))  # axe is there
    running = RunningServer(tmp_path_factory.mktemp("view"), free_port())
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def database(server: RunningServer) -> Iterator[Engine]:
    """The database of the server."""
    engine = create_engine(f"sqlite:///{server.home}/airflow.db", connect_args={"timeout": 60})
    yield engine
    engine.dispose()


@pytest.fixture
def estate(database: Engine) -> Metadata:
    """What is in the database of the server."""
    return Metadata(database)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of all tests."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def kept(browser: Browser) -> KeptPages:
    """The pages of all tests."""
    return KeptPages(browser)


Opens = Callable[..., Page]


@contextmanager
def pages_at(kept: KeptPages, address: str, token: str | Callable[[str], str]) -> Iterator[Opens]:
    """What opens pages of the Airflow at an *address*, one after the other; no script may have failed in them.

    Each is told what is to happen to it *before* it is loaded, if anything.

    :param token: of whoever opens them, or what gives that of a user.
    """
    opened: list[Page] = []
    faults: list[str] = []

    def note(error: Error) -> None:
        faults.append(str(error))

    def opens(
        path: str = "", user: str = "admin", *, before: Callable[[Page], object] = lambda _: None, **options: Any
    ) -> Page:
        put_back()  # the next has all that the browser has compiled for this one
        page = kept.take(address, token if isinstance(token, str) else token(user), **options)
        opened.append(page)
        page.on("pageerror", note)
        before(page)
        page.goto(f"{address}/plugin/partitions{path}")
        return page

    def put_back() -> None:
        while opened:
            page = opened.pop()
            page.remove_listener("pageerror", note)
            kept.put_back(page)

    yield opens
    put_back()
    assert faults == []


def pages(kept: KeptPages, server: RunningServer) -> AbstractContextManager[Opens]:
    """What opens pages of the users of a server."""
    return pages_at(kept, server.address, server.token)


@pytest.fixture
def opens(kept: KeptPages, server: RunningServer) -> Iterator[Opens]:
    """Opens a page of the view, signed in as admin or as another user."""
    with pages(kept, server) as opens:
        yield opens


def faults_of_access(page: Page) -> list[str]:
    """The serious and critical faults that axe finds on a page, in the part that is ours."""
    if not page.evaluate("'axe' in window"):  # it stays while one goes from page to page by links
        page.add_script_tag(path=WWW / "node_modules" / "axe-core" / "axe.min.js")
    options = "{resultTypes: ['violations'], selectors: false}"  # elements are told by their HTML
    found = page.evaluate(f"axe.run(document.querySelector('[data-scroll]') ?? document, {options})")
    return [
        f"{each['impact']}: {each['id']}: {each['help']}: {node['html'][:200]}"
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
