"""Names of assets and keys in addresses."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor

#: Stands for a slash within a name, while the path of a request is matched.
SLASH = "\x00"


class NameConvertor(Convertor[str]):
    """A name within a path."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        """The name."""
        return value.replace(SLASH, "/")

    def to_string(self, value: str) -> str:
        """The name in a path."""
        return value.replace("/", SLASH)


register_url_convertor("name", NameConvertor())
