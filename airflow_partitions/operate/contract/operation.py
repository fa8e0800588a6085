"""Operations, and what they answer."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from airflow_partitions.core.errors import InvalidRequestError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.core.storable import check_storable

_NAMES_IN_PATH = re.compile(r"{(\w+)}")


class Answer(BaseModel):
    """What is answered. Its fields have no bounds, so that what was once accepted can always be shown."""

    model_config = ConfigDict(defer_build=True)  # every command of Airflow's loads these


class Given(BaseModel):
    """What somebody gives. No field of it takes a value that PostgreSQL or JSON can't hold."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        check_storable(value)
        return value


class Operation(Given):
    """Something one asks for; the fields are what it takes, and the docstring says what comes of it.

    A subclass says where it is over REST, what it answers, and so on:

    :cvar route: method and path. What only asks is a GET, and takes the right to read the asset or the request in its
        path; what changes something takes the right to change it.
    :cvar answer: what is answered.
    :cvar noun: what it is about, for the OpenAPI document.
    :cvar refusals: statuses of refusals, besides those that any operation may answer.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    route: ClassVar[str]
    answer: ClassVar[type[Answer]]
    noun: ClassVar[str]
    refusals: ClassVar[tuple[int, ...]]

    def __init_subclass__(
        cls, *, route: str, answer: type[Answer], noun: str, refusals: tuple[int, ...] = (), **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        cls.route, cls.answer, cls.noun, cls.refusals = route, answer, noun, refusals

    @property
    def is_heavy(self) -> bool:
        """Whether a server does it for one asker at a time, since it may take long."""
        return False

    @classmethod
    def called(cls) -> str:
        """Its name in addresses and documents: that of the class, in lower case."""
        return re.sub(r"(?<!^)([A-Z])", r"_\1", cls.__name__).lower()

    @classmethod
    def path_fields(cls) -> tuple[str, ...]:
        """The fields that stand in its path."""
        return tuple(_NAMES_IN_PATH.findall(cls.route))

    @classmethod
    def of(cls, **values: Any) -> Self:
        """What asks for it with these *values*; ``None`` stands for a field that is not given.

        :raises InvalidRequestError: for a value that it can't take.
        """
        given = {name: value for name, value in values.items() if value is not None}
        try:
            return cls(**given)
        except ValidationError as error:
            raise InvalidRequestError("; ".join(map(cls._mistake, error.errors()))) from None

    @classmethod
    def _mistake(cls, mistake: Any) -> str:
        """A *mistake* that pydantic found, in words: what was given and what was expected."""
        name, *steps = mistake["loc"]
        if mistake["type"] == "missing":
            return f"{name} is missing"
        if mistake["type"] == "extra_forbidden":
            return f"there is no {name!r}; nearest: {', '.join(nearest_texts(name, cls.model_fields))}"
        bounds = {type(bound).__name__: bound for bound in cls.model_fields[name].metadata}
        if {"Ge", "Le"} <= bounds.keys():
            expected = f"a number from {bounds['Ge'].ge:,} to {bounds['Le'].le:,}"
        elif mistake["type"] == "dict_type":
            expected = "an object of JSON: names with their values"
        else:
            expected = mistake["msg"].removeprefix("Value error, expected ").removeprefix("Input should be ")
        place = "".join(f"[{step!r}]" for step in steps)
        return f"{name}{place}={mistake['input']!r}; expected {expected}"
