"""The base of all shapes: no additional keys, a description for each key, closed sets of states."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

from pydantic import ConfigDict, Field

# Before Python 3.12 pydantic does not take typing's.
from typing_extensions import TypedDict


class Shape(TypedDict):
    """A mapping that a command prints; the docstring below each key is its description."""


# Inside the class, mypy would treat this as a key.
Shape.__pydantic_config__ = ConfigDict(  # type: ignore[attr-defined]
    extra="forbid", use_attribute_docstrings=True
)
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""RFC 3339, in UTC."""
Count = Annotated[int, Field(ge=0)]


def one_of(choices: type[Enum], **meanings: str) -> Any:
    """Describe a string that is a value of *choices*; *meanings* describe them by name."""
    names = [choice.name for choice in choices]
    if names != list(meanings):
        raise TypeError(f"{choices.__name__} is {', '.join(names)}: describe these, in this order")
    values = [choice.value for choice in choices]
    return Field(
        json_schema_extra={"enum": values, "enumDescriptions": [*meanings.values()]},
    )
