"""Columns that the files of a format can't hold."""

from __future__ import annotations

import re
from collections.abc import Mapping

from airflow_partitions.core.errors import WriterError
from airflow_partitions.storage.dataset import Dataset

#: Types of columns that have no text which is read back as the same value.
_NO_TEXT = re.compile(r"(array|map|struct)\s*<.*|binary|variant|void|interval.*", re.IGNORECASE | re.DOTALL)


def check_columns(dataset: Dataset, schema: Mapping[str, str]) -> None:
    """Refuse columns that files of this format can't hold.

    :param schema: column to Spark type.
    :raises WriterError: if there is one.
    """
    if dataset.format == "text" and {name: kind.lower() for name, kind in schema.items()} != {"value": "string"}:
        shown = ", ".join(f"{name} {kind}" for name, kind in schema.items())
        raise WriterError(
            f"{dataset.path!r}: text can't hold {shown}; expected one column 'value' of type string, or another format"
            " such as Csv or Parquet"
        )
    if dataset.format == "csv":
        for name, kind in schema.items():
            if _NO_TEXT.fullmatch(kind.strip()):
                raise WriterError(
                    f"{dataset.path!r}: csv can't hold column {name!r}, which is {kind}; expected numbers, text, dates"
                    " and times, or another format such as Json or Parquet"
                )
