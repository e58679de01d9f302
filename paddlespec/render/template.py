"""
Templates: Jinja2 for the layout of manifests, without inserting values as text.

Every output expression renders a token. The text with its tokens is parsed as YAML, then the typed
values replace their tokens. So no value can break out of its scalar, and a text is parsed only once
for the same control flow.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from paddlespec.bundled import bundled
from paddlespec.spec.source import read
from paddlespec.user_dirs import user_dir

if TYPE_CHECKING:
    from jinja2.runtime import Context

    from paddlespec.render.manifest import Manifest

_SALT = "q" + os.urandom(8).hex() + "z"
_TOKEN = re.compile(_SALT + r"(\d+)e")
_VALUES = "paddlespec_values"


class TemplateFault(Exception):
    """Raised if a template cannot be rendered; the message has the template, line and reason."""

    def __init__(self, template: str, line: int, message: str) -> None:
        super().__init__(f"{template}:{line}: {message}" if line else f"{template}: {message}")


class Templates:
    """The bundled templates, which templates in *folder* override."""

    def __init__(self, folder: str | None = None) -> None:
        ours = jinja2.FileSystemLoader(bundled("templates"))
        overrides = [jinja2.FileSystemLoader(folder)] if folder else []
        # An overriding template can extend the original one as `bundled/...`.
        loaders = [*overrides, ours, jinja2.PrefixLoader({"bundled": ours})]
        self._environment = ImmutableSandboxedEnvironment(
            loader=jinja2.ChoiceLoader(loaders),
            autoescape=True,  # marks text of the templates themselves, which `_token` keeps
            finalize=_token,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
            bytecode_cache=_bytecode_cache(),
        )
        self._skeletons: dict[str, Any] = {}

    def render(self, name: str, values: dict[str, Any]) -> Manifest:
        """Render the template *name* with *values*."""
        tokens: list[Any] = []
        try:
            text = self._environment.get_template(name).render({**values, _VALUES: tokens})
        except jinja2.TemplateSyntaxError as error:
            raise TemplateFault(error.name or name, error.lineno, error.message or "") from None
        except UnicodeDecodeError:
            raise TemplateFault(name, 0, "not valid UTF-8 text") from None
        except jinja2.TemplateNotFound as error:
            raise TemplateFault(name, 0, f'template "{error.name}" not found') from None
        except Exception as error:
            where = _fault_line(error)
            if where is None:
                raise
            raise TemplateFault(*where, f"{error}") from error
        if text not in self._skeletons:
            self._skeletons[text] = _parse(name, text)
        manifest: Manifest = _fill(self._skeletons[text], tokens, name)
        if not _is_identified(manifest):
            raise TemplateFault(name, 0, "must render apiVersion, kind and metadata.name")
        return manifest


@jinja2.pass_context
def _token(context: Context, value: Any) -> Any:
    if isinstance(value, (Markup, jinja2.Undefined)):
        return value
    values: list[Any] = context[_VALUES]
    values.append(value)
    return Markup(f"{_SALT}{len(values) - 1}e")  # noqa: S704 - only our own letters and digits


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Cache compiled templates in the user's cache folder: compiling is slower than rendering."""
    version = f"{sys.implementation.cache_tag}-{jinja2.__version__}"
    folder = os.path.join(user_dir("cache"), "templates", version)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        owned = not hasattr(os, "getuid") or os.stat(folder).st_uid == os.getuid()
    except OSError:
        return None
    return jinja2.FileSystemBytecodeCache(folder) if owned and os.access(folder, os.W_OK) else None


def _fault_line(error: BaseException) -> tuple[str, int] | None:
    """Return the template and line that raised *error*, or None if it came from elsewhere."""
    root = bundled("templates")
    location = None
    frame = error.__traceback__
    while frame:
        file = frame.tb_frame.f_code.co_filename
        if file.endswith(".j2"):
            location = (
                os.path.relpath(file, root) if file.startswith(root) else file,
                frame.tb_lineno,
            )
        frame = frame.tb_next
    return location


def _parse(name: str, text: str) -> Any:
    reading = read(text, name)
    if reading.diagnostics:
        fault = reading.diagnostics[0]
        lines = text.splitlines()[: fault.span.line] or [""]
        shown = _TOKEN.sub("…", lines[-1]).strip()
        raise TemplateFault(name, 0, f"rendered text is not YAML: {fault.message}, at `{shown}`")
    if len(reading.documents) != 1 or not isinstance(reading.documents[0].data, dict):
        raise TemplateFault(name, 0, "must render a single mapping")
    return reading.documents[0].data


def _is_identified(manifest: Manifest) -> bool:
    """Whether a manifest has the fields that identify an object."""
    metadata = manifest.get("metadata")
    object_name = metadata.get("name") if isinstance(metadata, dict) else None
    return all(
        isinstance(identity, str)
        for identity in (manifest.get("apiVersion"), manifest.get("kind"), object_name)
    )


def _fill(node: Any, values: list[Any], name: str) -> Any:
    if isinstance(node, str):
        if _SALT not in node:
            return node
        token = _TOKEN.fullmatch(node)
        if token:
            return values[int(token[1])]
        return _TOKEN.sub(lambda match: _text(values[int(match[1])], name), node)
    if isinstance(node, dict):
        filled: dict[str, Any] = {}
        for key, value in node.items():
            new = _fill(key, values, name) if _SALT in key else key
            if not isinstance(new, str) or new in filled:
                raise TemplateFault(name, 0, f"key {new!r} is not a string, or is a duplicate")
            filled[new] = _fill(value, values, name)
        return filled
    if isinstance(node, list):
        return [_fill(item, values, name) for item in node]
    return node


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TemplateFault(name, 0, "a list, a mapping or null cannot be part of a longer text")
