"""Chromium, without a window, and pages of it that are kept from test to test."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.view.bundle import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SEEN = 60_000  # milliseconds until something is shown, on a busy machine
VIEWPORT = {"width": 1280, "height": 900}
#: No page is there for long enough to be worth what its scripts cost to be optimized: a seventh of the browser's time.
UNOPTIMIZED = "--js-flags=--no-opt,--no-maglev"


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, installed where it is missing."""
    from playwright.sync_api import expect, sync_playwright

    program = subprocess.run([ROOT / "tools" / "chromium.sh"], stdout=subprocess.PIPE, text=True, check=True).stdout
    expect.set_options(timeout=SEEN)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program.strip(), args=["--no-sandbox", UNOPTIMIZED])
        yield browser
        browser.close()


def signed_in(browser: Browser, address: str, token: str, **options: Any) -> Page:
    """An empty page, of somebody with that *token* for the Airflow at an *address*."""
    settings = {"viewport": VIEWPORT, "timezone_id": "UTC", **options}
    context = browser.new_context(**settings)
    context.set_default_timeout(SEEN)
    page = context.new_page()
    _sign_in(page, address, token)
    return page


def _sign_in(page: Page, address: str, token: str) -> None:
    host = urlsplit(address)
    cookie = {"name": "_token", "value": token, "domain": host.hostname, "path": host.path or "/"}
    page.context.add_cookies([cookie])  # type: ignore[list-item]


class KeptPages:
    """Pages of a browser that are kept from test to test: a new one would compile all of Airflow's scripts anew.

    None has anything left of the test before, but what the browser keeps of files.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._kinds: dict[Page, str] = {}
        self._idle: dict[str, list[Page]] = defaultdict(list)

    def take(
        self,
        address: str,
        token: str,
        *,
        viewport: dict[str, int] | None = None,
        color_scheme: str = "light",
        script: str = "",
        **options: Any,
    ) -> Page:
        """An empty page, as :func:`signed_in` gives it.

        :param script: runs before those of each page that it goes to.
        :param options: of its context, which it has for good.
        """
        kind = json.dumps([script, options], sort_keys=True)
        if self._idle[kind]:
            page = self._idle[kind].pop()
            _sign_in(page, address, token)
        else:
            page = signed_in(self._browser, address, token, **options)
            page.add_init_script(script)
            self._kinds[page] = kind
        page.set_viewport_size(viewport or VIEWPORT)  # type: ignore[arg-type]
        page.emulate_media(color_scheme=color_scheme)  # type: ignore[arg-type]
        return page

    def put_back(self, page: Page) -> None:
        """Have the page forget what a test has done with it."""
        page.unroute_all(behavior="ignoreErrors")
        page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.goto("about:blank")
        page.context.clear_cookies()
        self._idle[self._kinds[page]].append(page)
