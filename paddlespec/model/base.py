"""The base of all models, and the formats of their fields."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """
    A part of a spec: frozen, strict, camelCase in documents, without unknown keys.

    Models use only rules that JSON Schema can express, so both accept the same documents.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        serialize_by_alias=True,
        allow_inf_nan=False,
    )


def _whole_number(value: Any) -> Any:
    """Accept 4.0 as an integer, as JSON Schema does."""
    return int(value) if type(value) is float and value.is_integer() else value


WHOLE = BeforeValidator(_whole_number)


def described(**values: str) -> dict[str, Any]:
    """Describe the values of an enumeration in the keyword that editors read."""
    return {"enumDescriptions": list(values.values())}


def _format(kind: str, pattern: str, expected: str, max_length: int | None = None) -> Any:
    """Define a string field whose schema also describes the format for people."""
    extra: dict[str, Any] = {"x-kind": kind, "x-expected": expected}
    return Field(pattern=pattern, max_length=max_length, json_schema_extra=extra)


_LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"
_QUALIFIED = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
_QUANTITY = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei|[eE][-+]?[0-9]{1,2})?$"

JobName = Annotated[
    str,
    _format(
        "job name",
        r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
        "at most 63 lower-case letters, digits and hyphens, starting with a letter",
        63,
    ),
]
ObjectName = Annotated[
    str,
    _format(
        "object name",
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "at most 253 lower-case letters, digits, hyphens and dots",
        253,
    ),
]
RoleKey = Annotated[
    str,
    _format(
        "role name",
        r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
        "at most 30 lower-case letters, digits and hyphens, starting with a letter",
        30,
    ),
]
Label = Annotated[
    str, _format("name", _NAME, "at most 63 lower-case letters, digits and hyphens", 63)
]
QualifiedName = Annotated[
    str, _format("name", _QUALIFIED, "a name such as team or example.com/team", 317)
]
LabelValue = Annotated[
    str, _format("label value", _LABEL_VALUE, "at most 63 letters, digits, '-', '_' and '.'", 63)
]
AbsolutePath = Annotated[
    str, _format("path", r"^/[^\x00:]*$", "an absolute path without colons, such as /data", 4096)
]
EnvName = Annotated[
    str, _format("variable name", r"^[A-Za-z_][A-Za-z0-9_]*$", "letters, digits and underscores")
]
ParameterName = Annotated[
    str, _format("parameter name", r"^[A-Za-z_][A-Za-z0-9_-]*$", "letters, digits, '_' and '-'")
]
PortName = Annotated[
    str, _format("port name", _NAME, "at most 15 lower-case letters, digits and hyphens", 15)
]
Duration = Annotated[
    str,
    _format(
        "duration",
        r"^([0-9]{1,6}d([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?|[0-9]{1,6}h([0-9]{1,6}m)?"
        r"([0-9]{1,6}s)?|[0-9]{1,6}m([0-9]{1,6}s)?|[0-9]{1,6}s)$",
        "a duration such as 90s, 12h, 1h30m or 7d",
    ),
]
_MAX_NUMBER = 10**15  # floats still represent every integer up to here exactly
_QUANTITY_EXPECTED = "a number with an optional unit, such as 2, 500m or 4Gi"
QuantityText = Annotated[str, _format("quantity", _QUANTITY, _QUANTITY_EXPECTED, 32)]
Quantity = Annotated[
    Annotated[int, Field(ge=0, le=_MAX_NUMBER)]
    | Annotated[float, Field(ge=0, le=_MAX_NUMBER)]
    | QuantityText,
    WithJsonSchema(
        {
            "type": ["number", "string"],
            "minimum": 0,
            "maximum": _MAX_NUMBER,
            "pattern": _QUANTITY,
            "maxLength": 32,
            "x-kind": "quantity",
            "x-expected": _QUANTITY_EXPECTED,
        }
    ),
]
"""A Kubernetes quantity; a plain number counts cores or bytes."""
_LIMIT = f"^none$|{_QUANTITY}"
_LIMIT_EXPECTED = f"{_QUANTITY_EXPECTED}, or none"
LimitQuantity = Annotated[
    Annotated[int, Field(ge=0, le=_MAX_NUMBER)]
    | Annotated[float, Field(ge=0, le=_MAX_NUMBER)]
    | Annotated[str, _format("quantity", _LIMIT, _LIMIT_EXPECTED, 32)],
    WithJsonSchema(
        {
            "type": ["number", "string"],
            "minimum": 0,
            "maximum": _MAX_NUMBER,
            "pattern": _LIMIT,
            "maxLength": 32,
            "x-kind": "quantity",
            "x-expected": _LIMIT_EXPECTED,
        }
    ),
]
"""A quantity, or `none` for a resource without a limit."""
FileMode = Annotated[
    str, _format("mode", r"^0?[0-7]{3}$", 'octal digits in quotes, such as "0400"', 4)
]
Port = Annotated[int, Field(ge=1, le=65535), WHOLE]
Text = Annotated[str, Field(min_length=1)]
Scalar = str | bool | int | float
"""A plain value."""
Labels = dict[QualifiedName, LabelValue]
Annotations = dict[QualifiedName, str]
Object = dict[str, Any]
"""Passed to Kubernetes unchanged; the API server validates its fields."""
