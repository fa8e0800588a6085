"""Take the pictures of the partitions view in docs/pictures, from a server of its own with the estate of the tests."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
sys.path.insert(0, str(CHECKOUT))

from docs.pictures import Camera  # noqa: E402
from tests.view.browser import chromium, signed_in  # noqa: E402
from tests.view.running_server import RunningServer, free_port  # noqa: E402

VIEW = "/plugin/partitions"
#: Each page by the name of its picture: its address, the height of what is shown, and the theme.
PAGES = {
    "view-assets": (VIEW, 640, "light"),
    "view-asset": (f"{VIEW}/assets/airport_days?start=2013-02-01T00:00:00Z&end=2013-04-01T00:00:00Z", 640, "light"),
    "view-partition": (f"{VIEW}/assets/days/partitions/2013-02-08", 640, "light"),
    "view-requests": (f"{VIEW}/requests", 360, "light"),
    "view-doctor": (f"{VIEW}/doctor", 360, "light"),
    "view-dag": ("/dags/days/plugin/partitions-of-dag", 640, "light"),
    "view-dark": (f"{VIEW}/assets/region_days?start=2023-09-01T00:00:00Z&end=2024-06-23T00:00:00Z", 640, "dark"),
}
#: What is asked for before, so that there are requests.
ORDERS = {
    "airport_days": {"select": "airport in EWR,JFK", "states": ["missing"], "label": "after the outage"},
    "mart_5_clean": {"states": ["failed"]},
}


def main(*names: str) -> None:
    """Take the pictures called *names*, or all."""
    with tempfile.TemporaryDirectory() as home, chromium() as browser:
        server = RunningServer(Path(home), free_port())
        server.start()
        with server.client() as client:
            for asset, order in ORDERS.items():
                client.post(f"/assets/{asset}/requests", json=order).raise_for_status()
        for name, (path, height, theme) in PAGES.items():
            if name in names or not names:
                size = {"width": 1200, "height": height}
                token = server.token("admin")
                page = signed_in(browser, server.address, token, viewport=size, color_scheme=theme)
                camera = Camera(page, server.address)
                camera.open(path)
                camera.take(name, page.locator("[data-scroll]" if path.startswith(VIEW) else "body"), margin=0)
        server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
