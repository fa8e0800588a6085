"""Clients of servers of this machine."""

from __future__ import annotations

import ssl

import httpx

#: Nothing there has a certificate: to read all that one could be signed by takes each client 17 ms.
_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def client_of(address: str, token: str | None = None) -> httpx.Client:
    """A client signed in by a *token*, or by nothing."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=address, headers=headers, timeout=60, trust_env=False, verify=_CERTIFICATES)
