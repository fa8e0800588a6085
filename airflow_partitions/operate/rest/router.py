"""Routers: what all routes have in common, and how an asset's name stands in an address."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.convertors import Convertor, register_url_convertor

from airflow_partitions.operate.rest.problem import problems
from airflow_partitions.operate.rest.tagged_route import TaggedRoute

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


def router(tag: str) -> APIRouter:
    """A router for routes about one noun."""
    return APIRouter(tags=[tag], route_class=TaggedRoute, responses=problems(401, 403, 422, 503))
