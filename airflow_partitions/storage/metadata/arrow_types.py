"""Spark's types in Arrow, and which types of files fit them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import SchemaError

if TYPE_CHECKING:
    import pyarrow as pa

_PLAIN = {
    "tinyint": "int8", "byte": "int8", "smallint": "int16", "short": "int16", "int": "int32", "integer": "int32",
    "bigint": "int64", "long": "int64", "float": "float32", "real": "float32", "double": "float64",
    "string": "string", "binary": "binary", "boolean": "bool", "date": "date32",
}  # fmt: skip
#: Types of files that Spark and Arrow both read as a wider one.
_WIDER = {
    "int16": {"int8", "uint8"},
    "int32": {"int8", "int16", "uint8", "uint16"},
    "int64": {"int8", "int16", "int32", "uint8", "uint16", "uint32"},
    "double": {"float", "int8", "int16", "int32"},
    "string": {"large_string", "string_view"},
    "binary": {"large_binary", "binary_view"},
}
#: Of a decimal.
_MOST_DIGITS = 38
_FIELD = re.compile(r"(`[^`]+`|[^\s:]+)\s*[:\s]\s*(.+)")
_NAMES = {
    "int8": "tinyint", "int16": "smallint", "int32": "int", "int64": "bigint", "float": "float", "double": "double",
    "bool": "boolean", "date32[day]": "date", "string": "string", "large_string": "string", "string_view": "string",
    "uint8": "smallint", "uint16": "int", "uint32": "bigint", "halffloat": "float",
    "binary": "binary", "large_binary": "binary", "binary_view": "binary",
}  # fmt: skip


def arrow_type(kind: str) -> pa.DataType:
    """Arrow's type for Spark's type *kind*, such as ``array<struct<a:int>>``.

    :raises SchemaError: if there is none.
    """
    import pyarrow as pa

    text = kind.strip()
    name, _, inner = text.partition("<")
    name = name.strip().lower()
    if inner.endswith(">"):
        parts = _split(inner[:-1])
        if name == "array" and len(parts) == 1:
            return pa.list_(arrow_type(parts[0]))
        if name == "map" and len(parts) == 2:
            return pa.map_(arrow_type(parts[0]), arrow_type(parts[1]))
        if name == "struct":
            fields = [_FIELD.fullmatch(part.strip()) for part in parts]
            return pa.struct([(field[1].strip("`"), arrow_type(field[2])) for field in fields if field])
    if match := re.fullmatch(r"(?:decimal|dec|numeric)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?", name):
        return pa.decimal128(int(match[1] or 10), int(match[2] or 0))
    if name in ("timestamp", "timestamp_ltz"):
        return pa.timestamp("us", tz="UTC")
    if name == "timestamp_ntz":
        return pa.timestamp("us")
    if re.fullmatch(r"(varchar|char)\s*\(\d+\)", name):
        return pa.string()
    if name not in _PLAIN:
        raise SchemaError(f"type {kind!r} has no counterpart in Arrow; expected one of {', '.join(_PLAIN)}, …")
    return pa.type_for_alias(_PLAIN[name])


def spark_name(arrow: Any) -> str | None:
    """Spark's name of an Arrow type, ``None`` if it is nested or has none."""
    import pyarrow as pa

    if pa.types.is_timestamp(arrow):
        return "timestamp_ntz" if arrow.tz is None else "timestamp"
    decimal = pa.types.is_decimal(arrow) and arrow.precision <= _MOST_DIGITS
    return f"decimal({arrow.precision},{arrow.scale})" if decimal else _NAMES.get(str(arrow))


def spark_type(arrow: Any) -> str:
    """Spark's type for an Arrow type, nested ones too; unsigned numbers become wider ones.

    :raises SchemaError: if there is none.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(arrow):
        return spark_type(arrow.value_type)
    if pa.types.is_map(arrow):
        return f"map<{spark_type(arrow.key_type)},{spark_type(arrow.item_type)}>"
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return f"array<{spark_type(arrow.value_type)}>"
    if pa.types.is_struct(arrow):
        return f"struct<{','.join(f'{field.name}:{spark_type(field.type)}' for field in arrow)}>"
    if (name := spark_name(arrow)) is None:
        hint = " (there are only nulls): declare schema={…}" if pa.types.is_null(arrow) else ""
        raise SchemaError(f"type {arrow} has no counterpart in Spark{hint}; expected one of {', '.join(_PLAIN)}, …")
    return name


def fits(source: Any, target: Any) -> bool:
    """Whether a file's column of the Arrow type *source* can be read as *target* without loss, by all engines."""
    import pyarrow as pa

    if source == target:
        return True
    if pa.types.is_dictionary(source):
        return fits(source.value_type, target)
    if str(source) in _WIDER.get(str(target), ()):
        return True
    if pa.types.is_timestamp(target):
        if pa.types.is_timestamp(source):
            return (source.tz is None) == (target.tz is None)
        return target.tz is None and pa.types.is_date32(source)
    if pa.types.is_decimal(target) and pa.types.is_decimal(source):
        whole = target.precision - target.scale
        return bool(target.scale >= source.scale and whole >= source.precision - source.scale)
    if pa.types.is_map(target):
        same = pa.types.is_map(source) and fits(source.key_type, target.key_type)
        return same and fits(source.item_type, target.item_type)
    if pa.types.is_list(target):
        return (pa.types.is_list(source) or pa.types.is_large_list(source)) and fits(
            source.value_type, target.value_type
        )
    if pa.types.is_struct(target) and pa.types.is_struct(source):
        fields = {field.name: field.type for field in source}
        return all(field.name not in fields or fits(fields[field.name], field.type) for field in target)
    return False


def widest(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str]:
    """The columns of both, by Spark's types: where these differ, the one that holds all values of the other."""
    return {**one, **{name: kind for name, kind in other.items() if name not in one or wider(one[name], kind)}}


def wider(kind: str, other: str) -> bool:
    """Whether *other* is another of Spark's types than *kind*, and holds all its values."""
    if kind == other:
        return False
    return bool(arrow_type(kind) != arrow_type(other)) and fits(arrow_type(kind), arrow_type(other))


def _split(text: str) -> list[str]:
    """*text* cut at the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]
