"""
Templates: Jinja2 text that holds layout, into which values never go as text.

Every output expression becomes a token; the text with its tokens is parsed as YAML; then the typed
values take the places of their tokens. No value can break out of its scalar, and equal control
flow gives equal text, so that a skeleton is parsed once.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from paddlespec.resources import bundled
from paddlespec.source import read

if TYPE_CHECKING:
    from jinja2.runtime import Context

    from paddlespec.manifest import Manifest

_SALT = "q" + os.urandom(8).hex() + "z"
_TOKEN = re.compile(_SALT + r"(\d+)e")
_VALUES = "paddlespec_values"


class TemplateFault(Exception):
    """A template cannot be rendered; names the template, the line and the reason."""

    def __init__(self, template: str, line: int, message: str) -> None:
        super().__init__(f"{template}:{line}: {message}" if line else f"{template}: {message}")


class Templates:
    """The bundled templates, under a team's own where *folder* is given."""

    def __init__(self, folder: str | None = None) -> None:
        ours = jinja2.FileSystemLoader(bundled("templates"))
        own = [jinja2.FileSystemLoader(folder)] if folder else []
        # A team's template extends the one that it hides by the name `bundled/...`.
        loaders = [*own, ours, jinja2.PrefixLoader({"bundled": ours})]
        self._environment = ImmutableSandboxedEnvironment(
            loader=jinja2.ChoiceLoader(loaders),
            autoescape=True,  # marks what templates make themselves, which then passes untouched
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
        """The manifest that the template *name* makes of *values*."""
        given: list[Any] = []
        try:
            text = self._environment.get_template(name).render({**values, _VALUES: given})
        except jinja2.TemplateSyntaxError as error:
            raise TemplateFault(error.name or name, error.lineno, error.message or "") from None
        except UnicodeDecodeError:
            raise TemplateFault(name, 0, "it is not UTF-8 text") from None
        except jinja2.TemplateNotFound as error:
            raise TemplateFault(name, 0, f"no template is called {error.name}") from None
        except Exception as error:
            where = _fault_line(error)
            if where is None:
                raise
            raise TemplateFault(*where, f"{error}") from error
        if text not in self._skeletons:
            self._skeletons[text] = _parse(name, text)
        manifest: Manifest = _fill(self._skeletons[text], given, name)
        if not _is_identified(manifest):
            raise TemplateFault(name, 0, "it must make apiVersion, kind and metadata.name")
        return manifest


@jinja2.pass_context
def _token(context: Context, value: Any) -> Any:
    if isinstance(value, (Markup, jinja2.Undefined)):
        return value
    values: list[Any] = context[_VALUES]
    values.append(value)
    return Markup(f"{_SALT}{len(values) - 1}e")  # noqa: S704 - letters and digits of our own


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Compiled templates in the user's cache folder; compiling them costs more than rendering."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        return None
    version = f"{sys.implementation.cache_tag}-{jinja2.__version__}"
    folder = os.path.join(base, "paddlespec", "templates", version)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        owned = not hasattr(os, "getuid") or os.stat(folder).st_uid == os.getuid()
    except OSError:
        return None
    return jinja2.FileSystemBytecodeCache(folder) if owned and os.access(folder, os.W_OK) else None


def _fault_line(error: BaseException) -> tuple[str, int] | None:
    """The template and line at which *error* left the template, if it came from one."""
    root = bundled("templates")
    found = None
    frame = error.__traceback__
    while frame:
        file = frame.tb_frame.f_code.co_filename
        if file.endswith(".j2"):
            found = (
                os.path.relpath(file, root) if file.startswith(root) else file,
                frame.tb_lineno,
            )
        frame = frame.tb_next
    return found


def _parse(name: str, text: str) -> Any:
    reading = read(text, name)
    if reading.diagnostics:
        fault = reading.diagnostics[0]
        lines = text.splitlines()[: fault.span.line] or [""]
        shown = _TOKEN.sub("…", lines[-1]).strip()
        raise TemplateFault(name, 0, f"what it makes is not YAML: {fault.message}, at `{shown}`")
    if len(reading.documents) != 1 or not isinstance(reading.documents[0].data, dict):
        raise TemplateFault(name, 0, "it must make one mapping")
    return reading.documents[0].data


def _is_identified(manifest: Manifest) -> bool:
    """Whether a manifest says which object it is."""
    metadata = manifest.get("metadata")
    own = metadata.get("name") if isinstance(metadata, dict) else None
    return all(
        isinstance(each, str) for each in (manifest.get("apiVersion"), manifest.get("kind"), own)
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
                raise TemplateFault(name, 0, f"the key {new!r} is no text or stands there twice")
            filled[new] = _fill(value, values, name)
        return filled
    if isinstance(node, list):
        return [_fill(each, values, name) for each in node]
    return node


def _text(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TemplateFault(name, 0, "a list, a mapping or nothing cannot be part of a longer text")
