"""
Bundles of options: a parameter of a command that is a named tuple stands for its fields.

Typer knows one parameter per option. Commands that share ten of them take a bundle instead.
"""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable


def unbundled(command: Callable[..., Any]) -> Callable[..., Any]:
    """*command* with one parameter for each option of its bundles."""
    signature = inspect.signature(command, eval_str=True)
    bundles = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if hasattr(parameter.annotation, "_fields")
    }

    @wraps(command)
    def run(**given: Any) -> Any:
        for name, bundle in bundles.items():
            given[name] = bundle(*(given.pop(field) for field in bundle._fields))
        return command(**given)

    parameters = []
    for name, parameter in signature.parameters.items():
        kept = [parameter] if name not in bundles else _parameters(bundles[name])
        parameters += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in kept]
    parameters.sort(key=_is_option)  # stable: arguments keep their order, and so do options
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _parameters(bundle: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            field,
            inspect.Parameter.KEYWORD_ONLY,
            default=bundle._field_defaults[field],
            annotation=hints[field],
        )
        for field in bundle._fields
    ]


def _is_option(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is an option and not an argument."""
    metadata = getattr(parameter.annotation, "__metadata__", ())
    return any(type(one).__name__ == "OptionInfo" for one in metadata)
