"""Guard against cross-site requests: what another site makes a browser send carries Airflow's cookie, but no header.

A browser sends a header of one's own to another site only if that site allows it, which Airflow does for the origins of
``[api] access_control_allow_origins`` only.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import Depends, Header, HTTPException, Request

HEADER = "X-Requested-With"


def guard(
    request: Request,
    _: GetUserDep,
    requested_with: Annotated[
        str | None,
        Header(alias=HEADER, description="Any text; needed without a bearer token, by which forged requests are known"),
    ] = None,
) -> None:
    """Refuse a change of a signed-in user that comes with a cookie alone."""
    bearer = request.headers.get("Authorization", "").lower().startswith("bearer ")
    if not bearer and requested_with is None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN, f"A change by the cookie of a browser expected the header {HEADER}, with any value"
        )


Guarded = Depends(guard)
