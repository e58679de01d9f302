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
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2.compiler import CodeGenerator
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from paddlespec.boundary import boundary
from paddlespec.bundled import bundled
from paddlespec.render import bounds
from paddlespec.spec.source import read
from paddlespec.user_dirs import user_dir

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import nodes
    from jinja2.compiler import Frame
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
    """
    The bundled templates, which templates in *folder* override.

    Templates of a folder are rendered within bounds, and links in it must not leave its repository
    or the folders *allowed*.
    """

    def __init__(self, folder: str | None = None, allowed: tuple[str, ...] = ()) -> None:
        ours = jinja2.FileSystemLoader(bundled("templates"))
        overrides = [_Loader(folder, allowed)] if folder else []
        # An overriding template can extend the original one as `bundled/...`.
        loaders = [*overrides, ours, jinja2.PrefixLoader({"bundled": ours})]
        self._is_bounded = bool(folder)
        kind = _BoundedEnvironment if folder else ImmutableSandboxedEnvironment
        self._environment = kind(
            loader=jinja2.ChoiceLoader(loaders),
            autoescape=True,  # marks text of the templates themselves, which `_token` keeps
            finalize=_token,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
            # Bounded templates are compiled to other code.
            bytecode_cache=None if folder else _bytecode_cache(),
        )
        self._skeletons: dict[str, Any] = {}

    def render(self, name: str, values: dict[str, Any]) -> Manifest:
        """Render the template *name* with *values*."""
        tokens: list[Any] = []
        limits = bounds.bounded() if self._is_bounded else nullcontext()
        try:
            with limits:
                text = self._environment.get_template(name).render({**values, _VALUES: tokens})
        except jinja2.TemplateSyntaxError as error:
            raise TemplateFault(error.name or name, error.lineno, error.message or "") from None
        except UnicodeDecodeError:
            raise TemplateFault(name, 0, "not valid UTF-8 text") from None
        except jinja2.TemplateNotFound as error:
            raise TemplateFault(name, 0, f'template "{error.name}" not found') from None
        except bounds.TooMuch as error:
            raise TemplateFault(*(_fault_line(error) or (name, 0)), f"{error}") from None
        except RecursionError:
            raise TemplateFault(name, 0, "nested too deep") from None
        except Exception as error:
            where = _fault_line(error)
            if where is None:
                raise
            raise TemplateFault(*where, f"{error}") from error
        manifest = self._filled(name, text, tokens)
        if not _is_identified(manifest):
            raise TemplateFault(name, 0, "must render apiVersion, kind and metadata.name")
        return manifest

    def _filled(self, name: str, text: str, tokens: list[Any]) -> Manifest:
        """Parse *text* and insert the values of its tokens."""
        if text not in self._skeletons:
            self._skeletons[text] = _parse(name, text)
        skeleton = self._skeletons[text]
        if self._is_bounded:
            try:
                bounds.Sizes().check([tokens[int(token)] for token in _TOKEN.findall(text)])
            except bounds.TooMuch as error:
                raise TemplateFault(name, 0, f"{error}") from None
        manifest: Manifest = _fill(skeleton, tokens, name)
        return manifest


class _Loader(jinja2.FileSystemLoader):
    """Loads templates of the user's folder; links that leave its repository are refused."""

    def __init__(self, folder: str, allowed: tuple[str, ...]) -> None:
        super().__init__(folder)
        self._limit = boundary(folder, allowed)
        self._folder = folder

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        path = os.path.join(self._folder, *template.split("/"))
        if os.path.isfile(path):
            if not self._limit.holds(path):
                hint = "use a copy, or --allow-outside DIR"
                raise TemplateFault(template, 0, f"is a link that leads outside; {hint}")
            if os.path.getsize(path) > bounds.MAX_TEMPLATE_BYTES:
                limit = bounds.MAX_TEMPLATE_BYTES >> 10
                raise TemplateFault(template, 0, f"is larger than {limit} KiB")
        return super().get_source(environment, template)


class _BoundedCode(CodeGenerator):
    """Compiles `~` and literals of collections with a check of the result."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        self._checked(super().visit_Concat, node, frame)

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802
        self._checked(super().visit_List, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802
        if node.ctx == "load":
            self._checked(super().visit_Tuple, node, frame)
        else:
            super().visit_Tuple(node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        self._checked(super().visit_Dict, node, frame)

    def _checked(self, visit: Callable[..., None], node: nodes.Expr, frame: Frame) -> None:
        self.write("environment.sized(")
        visit(node, frame)
        self.write(")")


class _BoundedEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox in which no operation makes a value of unlimited size."""

    code_generator_class = _BoundedCode
    intercepted_binops = frozenset(("*", "**", "%", "+"))
    concat = staticmethod(bounds.joined)
    sized = staticmethod(bounds.sized)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.globals["range"] = bounds.counted
        del self.globals["lipsum"]
        self.filters = {
            name: bounds.filtered(name, function) for name, function in self.filters.items()
        }

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        bounds.operation(operator, left, right)
        return bounds.sized(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __function: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        bounds.call(__function, (*args, *kwargs.values()))
        return bounds.sized(super().call(__context, __function, *args, **kwargs))


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
            line = frame.tb_lineno
            # Jinja2 restores the lines of templates only for ordinary exceptions.
            if template := frame.tb_frame.f_globals.get("__jinja_template__"):
                line = template.get_corresponding_lineno(line)
            location = os.path.relpath(file, root) if file.startswith(root) else file, line
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
