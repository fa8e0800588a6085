"""What the client does when the server does not take a token."""

from __future__ import annotations

import grpc
from pyspark.sql.connect.client.retries import RetryPolicy

from airflow_partitions.spark.connect.renewed_token import RenewedToken


class RefusedToken(RetryPolicy):
    """Asks again, with a new token, where the server does not take the one it was sent.

    The client has all its calls retried by such policies, and goes on with a query where it was.
    """

    def __init__(self, token: RenewedToken) -> None:
        super().__init__(max_retries=2, initial_backoff=200)
        self._token = token

    def can_retry(self, exception: BaseException) -> bool:
        """Whether it was refused for its token; the next call then has another."""
        refused = isinstance(exception, grpc.RpcError) and exception.code() is grpc.StatusCode.UNAUTHENTICATED
        if refused:
            self._token.refuse()
        return refused
