"""Stands for ``spark-submit --deploy-mode cluster``: brings a job to the stand-in of a cluster, and ends."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from urllib.request import Request, urlopen


def main(url: str, uploads: str, words: list[str]) -> None:
    """Upload what the *words* name, since the task removes its own when this has ended, and tell of the driver."""
    folder = Path(tempfile.mkdtemp(dir=uploads))
    conf, py_files, left = {}, "", list(words)
    while left[0].startswith("--"):
        option, value, *left = left
        if option == "--conf":
            name, _, conf[name] = value.partition("=")
        elif option == "--py-files":
            py_files = value
    order = {
        "program": shutil.copy(left[0], folder),
        "py_files": [shutil.copy(file, folder) for file in py_files.split(",") if file],
        "arguments": left[1:],
        "conf": conf,
        "words": words,
    }
    request = Request(url, json.dumps(order).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        driver = json.load(answer)["driver"]
    sys.stdout.write(f"INFO Client: Submitted {driver}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
