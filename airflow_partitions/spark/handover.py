"""The order of the Airflow task to the Spark driver: one JSON value, or one for each of several partitions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import attrs

from airflow_partitions.core.definitions import from_json
from airflow_partitions.core.errors import ResultError
from airflow_partitions.core.partition import Partition
from airflow_partitions.frames.input import Input
from airflow_partitions.spark.shipped_check import ShippedCheck
from airflow_partitions.spark.shipping import Shipped
from airflow_partitions.storage.filesystem.filesystem import at, read, write
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.staging import Staging

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VERSION = 1
#: The Spark property that holds the value, or names the file that does.
PROPERTY = "spark.airflow_partitions.handover"
#: Larger values lie in the staging place: an argument is capped near 131,000 bytes, and shows in process lists and
#: event logs.
LONGEST = 32 * 1024
#: The file in the staging place.
FILE = "handover.json"
#: In what is sent of several handovers: where each of them is.
FILES = "files"


@attrs.frozen(kw_only=True)
class Handover:
    """All a job needs to know. There are never credentials in it.

    :ivar asset: name of the asset.
    :ivar attempt: the run and try.
    :ivar partition: what to make; the first of several.
    :ivar several: all that are to be made at once, if the function makes several.
    :ivar inputs: what may be read, by name.
    :ivar output: the asset's storage.
    :ivar staging: where to write.
    :ivar function: what to run; ``None`` for a program of the author.
    :ivar checks: of what it writes, those that the job makes.
    :ivar strict: whether reading anything else fails the job.
    """

    asset: str
    attempt: Attempt
    partition: Partition
    inputs: Mapping[str, Input]
    output: Storage
    staging: Staging
    function: Shipped | None = None
    checks: tuple[ShippedCheck, ...] = ()
    strict: bool = False
    several: tuple[Partition, ...] = ()

    def to_text(self) -> str:
        """Compact ASCII JSON. ``$`` is escaped, because Spark replaces ``${…}`` in properties."""
        storage = self.output.to_json()
        del storage["partition"]  # it is that of the partition
        storage.pop("conn_id", None)  # a driver has no connections of Airflow
        form = {
            "version": VERSION,
            "asset": self.asset,
            "run": self.attempt.to_json(),
            "partition": {"definition": self.partition.definition.to_json(), "key": self.partition.text},
            "inputs": {name: source.to_json() for name, source in self.inputs.items()},
            "output": {
                "storage": storage,
                "staging": str(self.staging.folder),
                "files": None if self.staging.files is None else str(self.staging.files),
                "result": str(self.staging.result),
            },
            "function": None if self.function is None else self.function.to_json(),
            "checks": [check.to_json() for check in self.checks],
            "strict": self.strict,
            **({"several": [partition.text for partition in self.several]} if self.several else {}),
        }
        return json.dumps(form, separators=(",", ":")).replace("$", "\\u0024")

    @classmethod
    def from_text(cls, text: str) -> Handover:
        """The inverse of :meth:`to_text`.

        :raises ResultError: if *text* is not a handover of this version.
        """
        try:
            form = json.loads(text)
            version = form["version"]
        except (ValueError, TypeError, KeyError):
            raise ResultError(f"{text[:60]!r}… is not a handover; expected the JSON of airflow_partitions") from None
        _check_version(version)
        definition = from_json(form["partition"]["definition"])
        function, output = form["function"], form["output"]
        return cls(
            asset=form["asset"],
            attempt=Attempt(**form["run"]),
            partition=Partition(definition, form["partition"]["key"]),
            inputs={name: Input.from_json(name, source) for name, source in form["inputs"].items()},
            output=Storage.from_json(output["storage"]).of(definition),
            staging=Staging(at(output["staging"]), output["files"] and at(output["files"])),
            function=None if function is None else Shipped.from_json(function),
            checks=tuple(ShippedCheck.from_json(check) for check in form["checks"]),
            strict=form["strict"],
            several=tuple(Partition(definition, key) for key in form.get("several", ())),
        )


def pack(handovers: Sequence[Handover], longest: int = LONGEST) -> str:
    """The Spark property's value for a job: the text of its handover, or if that is longer than *longest*, the name of
    a file in the staging place with it; of several, the name of a file with their names."""
    first = handovers[0]
    text = first.to_text()
    if len(handovers) == 1 and len(text) <= longest:
        return text
    if len(handovers) > 1:
        files = [_filed(each.staging, FILE, each.to_text()) for each in handovers]
        return _name(_filed(first.staging, "handovers.json", json.dumps({"version": VERSION, FILES: files})))
    return _name(_filed(first.staging, FILE, text))


def _name(filed: Mapping[str, str]) -> str:
    """What names a file in a property, without a blank, a quote or anything that a shell would take for its own."""
    return f"{quote(filed['file'], safe='/:')}@{filed['sha256']}"


def _named(text: str) -> dict[str, str]:
    """The inverse of :func:`_name`.

    :raises ResultError: if *text* names no file.
    """
    file, separator, digest = text.rpartition("@")
    if not separator:
        raise ResultError(f"{text[:60]!r} is not a handover; expected the JSON of one, or FILE@SHA-256")
    return {"file": unquote(file), "sha256": digest}


def receive(spark: SparkSession) -> Handover:
    """The handover given to the application of *spark*.

    :raises ResultError: if there is not one, or its file is not the one that was sent.
    """
    sent = received(spark)
    handover = sent[0]()
    if len(sent) > 1 or handover is None:
        raise ResultError(f"this program is given {len(sent):,} partitions to make; expected one")
    return handover


def received(spark: SparkSession) -> Sequence[Callable[[], Handover | None]]:
    """What reads each of the handovers given to the application of *spark*: it gives ``None`` for one of several that
    is gone, since nobody waits for it any more.

    :raises ResultError: if there is none. When it is read: if it is not the one that was sent.
    """
    text = spark.sparkContext.getConf().get(PROPERTY)
    if text is None:
        raise ResultError(
            f"there is no Spark property {PROPERTY}; expected this program to be started by a spark_asset, or"
            " job(handover=…)"
        )
    if not text.startswith("{"):
        filed = _named(text)
        content = _content(filed)
        if content is None:
            raise ResultError(
                f"there is no handover {filed['file']} here; expected storage that the Airflow task and the driver"
                " share"
            )
        text = content
    sent = json.loads(text)
    if FILES not in sent:
        return [partial(Handover.from_text, text)]
    _check_version(sent["version"])
    return [partial(_handover_in, file) for file in sent[FILES]]


def _handover_in(file: Mapping[str, str]) -> Handover | None:
    text = _content(file)
    return None if text is None else Handover.from_text(text)


def _filed(staging: Staging, name: str, text: str) -> dict[str, str]:
    """Write *text* to a file in the staging place; what finds it."""
    file = staging.folder / name
    write(file, text.encode())
    return {"file": str(file), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def _content(sent: Mapping[str, str]) -> str | None:
    """What is in a file that was *sent*, if it is there."""
    content = read(at(sent["file"]))
    if content is None:
        return None
    if (digest := hashlib.sha256(content).hexdigest()) != sent["sha256"]:
        raise ResultError(f"handover {sent['file']} has SHA-256 {digest}; expected {sent['sha256']}")
    return content.decode()


def _check_version(version: Any) -> None:
    if version != VERSION:
        raise ResultError(
            f"the handover has version {version}, this driver reads {VERSION}; expected the same release of"
            " airflow_partitions in Airflow and on the driver"
        )
