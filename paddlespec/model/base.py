"""What every model shares: frozen, strict, camelCase outside, nothing unknown."""

from __future__ import annotations

from typing import Annotated, Any, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """A part of a spec; holds only what JSON Schema can say, so that both accept the same."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        serialize_by_alias=True,
        allow_inf_nan=False,
    )


def _whole_number(value: Any) -> Any:
    """JSON Schema counts 4.0 as an integer, so the model does too."""
    return int(value) if type(value) is float and value.is_integer() else value


WHOLE = BeforeValidator(_whole_number)


def described(**values: str) -> dict[str, Any]:
    """What each value of an enumeration means, where editors look for it."""
    return {"enumDescriptions": list(values.values())}


def _expects(pattern: str, expected: str, longest: int | None = None) -> Any:
    """A string field whose schema also says, for people, what is expected."""
    extra: dict[str, Any] = {"x-expected": expected}
    return Field(pattern=pattern, max_length=longest, json_schema_extra=extra)


_LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"
_QUALIFIED = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
_QUANTITY = r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei|[eE][-+]?[0-9]{1,2})?$"

JobName = Annotated[
    str,
    _expects(
        r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
        "lower-case letters, digits and hyphens, first a letter, at most 63",
        63,
    ),
]
ObjectName = Annotated[
    str,
    _expects(
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "the name of a Kubernetes object: lower-case letters, digits, hyphens and dots",
        253,
    ),
]
Label = Annotated[
    str,
    _expects(
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "lower-case letters, digits and hyphens, at most 63",
        63,
    ),
]
QualifiedName = Annotated[str, _expects(_QUALIFIED, "a name such as team or example.com/team", 317)]
LabelValue = Annotated[
    str, _expects(_LABEL_VALUE, "letters, digits, '-', '_' and '.', at most 63", 63)
]
AbsolutePath = Annotated[
    str, _expects(r"^/[^\x00:]*$", "an absolute path without colons, such as /data", 4096)
]
EnvName = Annotated[
    str, _expects(r"^[A-Za-z_][A-Za-z0-9_]*$", "a variable name: letters, digits and underscores")
]
ParameterName = Annotated[
    str, _expects(r"^[A-Za-z_][A-Za-z0-9_-]*$", "a name: letters, digits, '_' and '-'")
]
PortName = Annotated[
    str,
    _expects(
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "lower-case letters, digits and hyphens, at most 15",
        15,
    ),
]
Duration = Annotated[
    str,
    _expects(
        r"^([0-9]{1,6}d([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?|[0-9]{1,6}h([0-9]{1,6}m)?"
        r"([0-9]{1,6}s)?|[0-9]{1,6}m([0-9]{1,6}s)?|[0-9]{1,6}s)$",
        "a duration such as 90s, 12h, 1h30m or 7d",
    ),
]
_MOST = 10**15  # what is above it by one is still another float
QuantityText = Annotated[str, _expects(_QUANTITY, "a quantity such as 2, 500m or 4Gi", 32)]
Quantity = Annotated[
    Union[
        Annotated[int, Field(ge=0, le=_MOST)], Annotated[float, Field(ge=0, le=_MOST)], QuantityText
    ],
    WithJsonSchema(
        {
            "type": ["number", "string"],
            "minimum": 0,
            "maximum": _MOST,
            "pattern": _QUANTITY,
            "maxLength": 32,
            "x-expected": "a quantity such as 2, 500m or 4Gi",
        }
    ),
]
"""A Kubernetes quantity; numbers count cores or bytes."""
Port = Annotated[int, Field(ge=1, le=65535), WHOLE]
Text = Annotated[str, Field(min_length=1)]
Scalar = Union[str, bool, int, float]
"""A plain value."""
Labels = dict[QualifiedName, LabelValue]
Annotations = dict[QualifiedName, str]
Object = dict[str, Any]
"""Passed on to Kubernetes as it is; the API server knows its fields."""
