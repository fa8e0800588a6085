"""Answers in JSON, which can always be written, whatever is stored."""

from __future__ import annotations

import json
from typing import Any

from fastapi.responses import JSONResponse
from pydantic_core import PydanticSerializationError, to_json


class JsonAnswer(JSONResponse):
    """An answer in JSON: half of a surrogate pair is escaped, and a number that JSON has not is null."""

    def render(self, content: Any) -> bytes:
        """The answer as bytes."""
        try:
            return to_json(content, inf_nan_mode="null")
        except PydanticSerializationError:
            return json.dumps(json.loads(json.dumps(content), parse_constant=lambda _: None)).encode()
