"""What every shape shares: no other keys, a meaning beside each, closed sets of states."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

from pydantic import ConfigDict, Field

# Before Python 3.12 pydantic does not take typing's.
from typing_extensions import TypedDict


class Shape(TypedDict):
    """A mapping that a command prints; the text below each key is its description."""


# Written inside of the class, mypy would take it for a key.
Shape.__pydantic_config__ = ConfigDict(  # type: ignore[attr-defined]
    extra="forbid", use_attribute_docstrings=True
)
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""RFC 3339, in UTC."""
Count = Annotated[int, Field(ge=0)]


def one_of(choices: type[Enum], **meanings: str) -> Any:
    """A text that is the value of one of *choices*; *meanings* says by name what each is."""
    names = [each.name for each in choices]
    if names != list(meanings):
        raise TypeError(f"{choices.__name__} is {', '.join(names)}: describe these, in this order")
    values = [each.value for each in choices]
    return Field(
        json_schema_extra={"enum": values, "enumDescriptions": [*meanings.values()]},
    )
