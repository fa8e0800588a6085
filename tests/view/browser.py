"""Chromium, without a window."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.view.bundle import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SEEN = 60_000  # milliseconds until something is shown, on a busy machine


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, installed where it is missing."""
    from playwright.sync_api import expect, sync_playwright

    program = subprocess.run([ROOT / "tools" / "chromium.sh"], stdout=subprocess.PIPE, text=True, check=True).stdout
    expect.set_options(timeout=SEEN)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program.strip(), args=["--no-sandbox"])
        yield browser
        browser.close()


def signed_in(browser: Browser, address: str, token: str, **options: Any) -> Page:
    """An empty page, of somebody with that *token* for the Airflow at an *address*."""
    settings = {"viewport": {"width": 1280, "height": 900}, "timezone_id": "UTC", **options}
    context = browser.new_context(**settings)
    context.set_default_timeout(SEEN)
    host = urlsplit(address)
    cookie = {"name": "_token", "value": token, "domain": host.hostname, "path": host.path or "/"}
    context.add_cookies([cookie])  # type: ignore[list-item]
    return context.new_page()
