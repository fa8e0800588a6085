"""Names of partition directories, escaped as Spark and Hive escape them."""

from __future__ import annotations

import re
from urllib.parse import unquote

from airflow_partitions.core.errors import LayoutError

#: What Spark reads as "no value"; it writes this name for null and empty text.
NULL_NAME = "__HIVE_DEFAULT_PARTITION__"
#: File systems limit one name to this many bytes.
LONGEST_NAME = 255

#: What is escaped, as a regular expression for Python and Java.
UNSAFE = r"[\x01-\x1f\x7f\"#%'*/:=?\\{\[\]^]"
#: Into how many bytes a character is escaped.
LONGEST_ESCAPE = 3
_UNSAFE = re.compile(UNSAFE)


def escape(text: str) -> str:
    """*text* as (part of) the name of a partition directory."""
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", text)


def unescape(name: str) -> str:
    """The text behind an escaped *name*. Others escape more than Spark, and what is not ASCII by its bytes in UTF-8."""
    return unquote(name)


def check_component(component: str, text: str) -> str:
    """Refuse a directory name that can't be stored or would not be read back as *text*."""
    if text in ("", NULL_NAME):
        raise LayoutError(f"partition value {text!r} would be read back as null; expected other text")
    if (length := len(component.encode())) > LONGEST_NAME:
        raise LayoutError(
            f"directory name {component[:60]!r}… has {length} bytes; expected at most {LONGEST_NAME}: use a shorter"
            " column name or shorter keys"
        )
    return component
