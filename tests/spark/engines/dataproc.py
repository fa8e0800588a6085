"""What stands for Dataproc: a server of gRPC, with the name and by the certificate of the real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from http import HTTPStatus
from typing import Any, ClassVar

import pytest

from airflow_partitions.spark.engines import DataprocCluster, DataprocServerless, ManagedEngine
from tests.spark.engines.stand_in import Job, Order, StandIn
from tests.spark.engines.tunnel import Tunnel

REGION = "europe-west1"
HOST = f"{REGION}-dataproc.googleapis.com"
#: gRPC's names of what a test orders as a status of HTTP.
_STATUS = {
    0: "UNAVAILABLE",
    HTTPStatus.FORBIDDEN: "PERMISSION_DENIED",
    HTTPStatus.TOO_MANY_REQUESTS: "RESOURCE_EXHAUSTED",
    HTTPStatus.INTERNAL_SERVER_ERROR: "INTERNAL",
}


class _DataprocStandIn(StandIn):
    """What both ways of Dataproc have in common.

    Airflow's connection can't name another endpoint, so a proxy in the environment leads here.

    :cvar states: its words for states of jobs.
    """

    states: ClassVar[dict[str, str]]
    #: What it is ordered to answer is answered once: a client that tried again would get past it.
    _common: ClassVar = {"region": REGION, "poll_seconds": 1, "arguments": {"retry": None}}

    def connect(self, url: str, patch: pytest.MonkeyPatch) -> None:
        roots = self.folder / "roots.pem"
        roots.write_bytes(certificate()[1])
        patch.setenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", str(roots))
        patch.setenv("grpc_proxy", url)
        patch.setenv("no_grpc_proxy", "localhost")
        connection = {"conn_type": "google_cloud_platform", "extra": {"is_anonymous": True, "project": "flights"}}
        patch.setenv("AIRFLOW_CONN_GOOGLE_CLOUD_DEFAULT", json.dumps(connection))

    def job(self, name: str) -> Job:
        """The job of *name*, of which the last part is its id."""
        token = name.rpartition("/")[2].removeprefix("partition-")
        for job in self.jobs.values():
            if job.token == token:
                return job
        raise LookupError(name)

    def begin(self, name: str, order: Order) -> Job:
        """A new job.

        :raises FileExistsError: if there is one of the name.
        """
        token = name.removeprefix("partition-")
        if any(job.token == token for job in self.jobs.values()):
            raise FileExistsError(name)
        return self.start(token, order)

    def order(self, python: Any, properties: Any) -> Order:
        return Order(python.main_python_file_uri, list(python.python_file_uris), list(python.args), dict(properties))

    @contextmanager
    def serving(self) -> Iterator[str]:
        import grpc

        server = grpc.server(ThreadPoolExecutor(8), handlers=[self._handler()])
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([certificate()]))
        server.start()
        self.tunnel = Tunnel(port)
        try:
            with self.tunnel.serving() as url:
                yield url
        finally:
            server.stop(None).wait()
            self.end()

    def _handler(self) -> Any:
        import grpc

        platform = self

        class Handler(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
            def service(self, call: Any) -> Any:
                method = call.method.rpartition("/")[2]
                kind: Any = _requests()[method]

                def answer(request: Any, context: Any) -> Any:
                    return platform._answer(method, request, context)

                return grpc.unary_unary_rpc_method_handler(answer, _reader(kind), _written)

        return Handler()

    def _answer(self, method: str, request: Any, context: Any) -> Any:
        import grpc

        self.calls.append((method, "", request))
        if self.faults:
            fault = self.faults.pop(0)
            if not fault:
                self.tunnel.drop()
            context.abort(grpc.StatusCode[_STATUS[fault]], "by order of the test")
        try:
            return self.answer(method, "", request)
        except FileExistsError as error:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, f"{error} is there")
        except LookupError as error:
            context.abort(grpc.StatusCode.NOT_FOUND, f"{error} is not there")


class DataprocServerlessStandIn(_DataprocStandIn):
    """Dataproc Serverless: batches, and the operations that make them."""

    states: ClassVar = {"running": "RUNNING", "succeeded": "SUCCEEDED", "failed": "FAILED", "cancelled": "CANCELLED"}

    def engine(self, **changes: Any) -> ManagedEngine:
        return DataprocServerless(**{**self._common, **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        from google.cloud.dataproc_v1 import Batch
        from google.longrunning.operations_pb2 import Operation
        from google.protobuf.empty_pb2 import Empty

        match method:
            case "CreateBatch":
                assert body.parent == f"projects/flights/regions/{REGION}"
                batch = body.batch
                self.begin(body.batch_id, self.order(batch.pyspark_batch, batch.runtime_config.properties))
                return Operation(name=f"projects/flights/regions/{REGION}/operations/{body.batch_id}")
            case "GetBatch":
                assert body.name.startswith(f"projects/flights/locations/{REGION}/batches/")
                job = self.job(body.name)
                operation = f"projects/flights/regions/{REGION}/operations/partition-{job.token}"
                state = {"state": self.states[job.state], "state_message": f"batch {job.state}"}
                return Batch(name=body.name, operation=operation, **state)
            case "CancelOperation":
                self.job(body.name).cancel()
                return Empty()
        raise LookupError(method)


class DataprocClusterStandIn(_DataprocStandIn):
    """A cluster of Dataproc: its jobs."""

    states: ClassVar = {"running": "RUNNING", "succeeded": "DONE", "failed": "ERROR", "cancelled": "CANCELLED"}

    def engine(self, **changes: Any) -> ManagedEngine:
        return DataprocCluster(**{**self._common, "cluster_name": "etl", **changes})

    def answer(self, method: str, path: str, body: Any) -> Any:
        assert (body.project_id, body.region) == ("flights", REGION)
        match method:
            case "SubmitJob":
                assert body.job.placement.cluster_name == "etl"
                python = body.job.pyspark_job
                return self._told(self.begin(body.job.reference.job_id, self.order(python, python.properties)))
            case "GetJob":
                return self._told(self.job(body.job_id))
            case "CancelJob":
                job = self.job(body.job_id)
                job.cancel()
                return self._told(job)
        raise LookupError(method)

    def _told(self, job: Job) -> Any:
        from google.cloud.dataproc_v1 import Job as Told

        status = {"state": self.states[job.state], "details": f"driver {job.state}"}
        return Told(reference={"job_id": f"partition-{job.token}"}, status=status)


@cache
def _requests() -> dict[str, Any]:
    """What each method is asked by."""
    from google.cloud import dataproc_v1
    from google.longrunning.operations_pb2 import CancelOperationRequest

    names = ("CreateBatch", "GetBatch", "SubmitJob", "GetJob", "CancelJob")
    return {name: getattr(dataproc_v1, f"{name}Request") for name in names} | {
        "CancelOperation": CancelOperationRequest
    }


def _reader(kind: Any) -> Any:
    return getattr(kind, "deserialize", None) or kind.FromString


def _written(message: Any) -> Any:
    kind = type(message)
    return kind.serialize(message) if hasattr(kind, "serialize") else message.SerializeToString()


@cache
def certificate() -> tuple[bytes, bytes]:
    """Key and certificate of the real one's name: one pair for a process, since gRPC reads its roots once."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stand-in")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    written = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return written, made.public_bytes(pem)
