"""Run ids with the text of the partition's key."""

from __future__ import annotations

import re
from hashlib import blake2b

# Airflow allows these in run ids, up to 250 characters, and no two dots in a row.
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_.~:+-]|\.(?=\.)")
_MAX_TEXT = 150


def run_id_text(key_text: str) -> str:
    """*key_text* as part of a run id; a short hash is added where something had to be left out."""
    text = _FORBIDDEN.sub("~" if "|" in key_text else "_", key_text)
    replaced = key_text.replace("|", "~")
    if text == replaced and len(text) <= _MAX_TEXT:
        return text
    digest = blake2b(key_text.encode(), digest_size=4).hexdigest()
    return f"{text[:_MAX_TEXT]}~{digest}"
