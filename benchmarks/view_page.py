"""A page of the view as a browser has it: until something is seen, how it moves, what it takes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from playwright.sync_api import Page

Row = dict[str, Any]
MOVES = 120
_COUNT_FRAMES = """() => {
    window.frames_drawn = [];
    const count = at => { window.frames_drawn.push(at); window.frames_counted = requestAnimationFrame(count); };
    window.frames_counted = requestAnimationFrame(count);
}"""


def row(what: str, measured: str, value: float, most: float | None, wanted: str = "") -> Row:
    """What was measured, and whether that is more than wanted."""
    return {"what": what, "measured": measured, "wanted": wanted, "missed": most is not None and value > most}


def loaded(page: Page, address: str, seen: str) -> float:
    """The seconds from asking for a page until what is looked for is seen."""
    page.goto(address, wait_until="commit")
    return float(page.wait_for_function(seen, polling="raf", timeout=120_000).json_value()) / 1e3


def frames(page: Page, key: str | None) -> tuple[float, float]:
    """The frames per second while the wheel turns over the picture, and the milliseconds of the longest."""
    box = page.get_by_role("application").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + min(box["height"], 300) / 2)
    if key is not None:
        page.keyboard.down(key)
    page.evaluate(_COUNT_FRAMES)
    for i in range(MOVES):
        page.mouse.wheel(0, 60 if i < MOVES // 2 else -60)
    times = page.evaluate("() => { cancelAnimationFrame(window.frames_counted); return window.frames_drawn; }")
    if key is not None:
        page.keyboard.up(key)
    lengths = [after - before for before, after in pairwise(times)]
    return 1e3 * len(lengths) / sum(lengths), max(lengths)


def memory_of(page: Page) -> float:
    """Bytes that the process of a page has for itself alone, without garbage."""
    browser = page.context.browser
    assert browser is not None
    page.context.new_cdp_session(page).send("HeapProfiler.collectGarbage")
    processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    renderers = [psutil.Process(each["id"]) for each in processes if each["type"] == "renderer"]
    return float(max(process.memory_full_info().uss for process in renderers))
