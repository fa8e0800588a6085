"""Options of formats, as Spark is given them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.paths import is_local
from airflow_partitions.storage.io.request import Request
from airflow_partitions.storage.io.write_request import WriteRequest

# Spark's default would cut microseconds off.
_TIMES = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
#: Other than Spark's defaults: quotes are doubled, as everybody else reads them, and an empty text is no null.
_READ = {"csv": {"escape": '"', "nullValue": "\0"}}
#: Other than Spark's defaults, so that what is read is what was written.
_WRITTEN = {
    "csv": {"escape": '"', "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false", **_TIMES},
    "json": _TIMES,
}


def format_options(dataset: Dataset) -> dict[str, Any]:
    """What Spark is told about the format of *dataset* to read them."""
    return {**_READ.get(dataset.format, {}), **_own(dataset)}


def read_options(request: Request) -> dict[str, Any]:
    """What Spark is told to read files: the credentials, for this read alone, and the options of the format."""
    return {**_secrets(request), **format_options(request.dataset)}


def write_options(request: WriteRequest) -> dict[str, Any]:
    """What Spark is told to write files to the folder of *request*."""
    return {
        **_committer(str(request.folder)),
        **_secrets(request),
        **_WRITTEN.get(request.dataset.format, {}),
        **_own(request.dataset),
    }


def _own(dataset: Dataset) -> dict[str, Any]:
    return {name: value for name, value in dataset.options if name != "credentials"}


def _committer(folder: str) -> dict[str, str]:
    """How Spark's tasks bring their files to *folder*, where nobody looks before it is published.

    On object stores a rename is a copy, so that one for each task is enough there; for none configure the magic
    committer of S3A.
    """
    options = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
    return options if is_local(folder) else {**options, "mapreduce.fileoutputcommitter.algorithm.version": "2"}


def _secrets(request: Request) -> dict[str, Any]:
    """The credentials of s3fs as options of Spark's S3 file system."""
    if urlsplit(request.dataset.path).scheme not in ("s3", "s3a"):
        return {}
    credentials = request.credentials
    endpoint = credentials.get("endpoint_url") or credentials.get("client_kwargs", {}).get("endpoint_url")
    options = {
        "fs.s3a.access.key": credentials.get("key"),
        "fs.s3a.secret.key": credentials.get("secret"),
        "fs.s3a.session.token": credentials.get("token"),
        "fs.s3a.endpoint": endpoint,
        "fs.s3a.path.style.access": "true" if endpoint else None,
    }
    return {name: value for name, value in options.items() if value is not None}
