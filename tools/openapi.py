"""Write the OpenAPI document of the REST API to the file that is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from airflow_partitions.operate.rest.app import create_app


def document_text() -> str:
    """The document, the same for each release that answers the same."""
    document = create_app().openapi()
    document["info"]["version"] = "1"
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(document_text())
