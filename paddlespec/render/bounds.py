"""
Bounds for templates of other people.

Steps are counted, and sizes are checked before a value is made, on every platform. Where the system
can limit the memory of a process, that limit holds for what cannot be checked in advance.
"""

from __future__ import annotations

import re
import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

MAX_TEMPLATE_BYTES = 64 << 10
MAX_STEPS = 1_000_000
MAX_SECONDS = 5
MAX_RANGE = 10_000
MAX_LENGTH = 4 << 20
MAX_BITS = 4_000
MAX_DEPTH = 100
MAX_WIDTH_DIGITS = 5
MAX_MEMORY = 512 << 20

# `{:2000000000}` and `%2000000000d` make long texts of short ones, and so do these.
_WIDE = re.compile(rf"[0-9]{{{MAX_WIDTH_DIGITS + 1}}}|\*")
_WIDTHS = frozenset(("center", "ljust", "rjust", "zfill", "expandtabs", "format", "format_map"))
_WIDTH_FILTERS = frozenset(("center", "format", "indent", "wordwrap", "batch", "slice"))
# Frames whose lines are steps; all others are only timed.
_COUNTED = (".j2", "jinja2/filters.py", "jinja2/utils.py", "jinja2/runtime.py")
_CHECK_EVERY = 256


class TooMuch(BaseException):
    """Raised if a template exceeds a bound; nothing within a template can catch it."""


@contextmanager
def bounded() -> Iterator[None]:
    """Limit the steps, the processor time and, where possible, the memory of a block."""
    before = sys.gettrace()
    token = _sizes.set(Sizes())
    with _limited_memory():
        sys.settrace(_tracer())
        try:
            yield
        except MemoryError:
            raise TooMuch(f"takes more than {MAX_MEMORY >> 20} MiB of memory") from None
        finally:
            sys.settrace(before)
            _sizes.reset(token)


def operation(operator: str, left: Any, right: Any) -> None:
    """Check the result of an operation before it is computed."""
    if operator == "%" and isinstance(left, str):
        _format(left)
    elif isinstance(left, int) and isinstance(right, int):
        digits = left.bit_length() * (abs(right) if operator == "**" else 1)
        if operator in ("*", "**") and digits + right.bit_length() > MAX_BITS:
            raise TooMuch(f"makes a number of more than {MAX_BITS:,} bits")
    elif operator == "*":
        size, count = (right, left) if isinstance(left, int) else (left, right)
        if hasattr(size, "__len__") and isinstance(count, int):
            _length(len(size) * count)
    elif operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
        _length(len(left) + len(right))


def call(function: Any, arguments: Iterable[Any]) -> None:
    """Check a call of a method that pads or formats text."""
    function = getattr(function, "__wrapped__", function)  # the sandbox wraps `format`
    text = getattr(function, "__self__", None)
    if isinstance(text, str) and getattr(function, "__name__", "") in _WIDTHS:
        _padding(text, arguments)


def filtered(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the filter *function* with checks of its arguments and its result."""
    from functools import wraps

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        if name in _WIDTH_FILTERS:
            _padding("", (*arguments, *options.values()))
            if name == "format":
                _format(str(arguments[0]))
        return sized(function(*arguments, **options))

    return checked


def joined(parts: Iterable[str]) -> str:
    """Join *parts* unless the text becomes too long."""
    texts, size = [], 0
    for text in parts:
        size += len(text)
        _length(size)
        texts.append(text)
    return "".join(texts)


class Sizes:
    """
    The sizes of the values of one rendering.

    A list may contain another one many times, so a few steps make more members than a comparison
    could visit. The size of a collection counts its members as often as they occur.
    """

    def __init__(self) -> None:
        # The value is kept because another one could get its id otherwise.
        self._known: dict[int, tuple[int, Any]] = {}

    def check(self, value: Any) -> Any:
        """Return *value*; raises `TooMuch` if it is too large."""
        _length(self._size(value, 0))
        return value

    def _size(self, value: Any, depth: int) -> int:
        if isinstance(value, str):
            return 1 + len(value)
        if not isinstance(value, (list, tuple, dict)):
            return 1
        known = self._known.get(id(value))
        if known is not None:
            return known[0]
        if depth > MAX_DEPTH:
            raise TooMuch(f"nests values more than {MAX_DEPTH} levels deep")
        members = (*value, *value.values()) if isinstance(value, dict) else value
        size = 1
        for member in members:
            size += self._size(member, depth + 1)
            _length(size)
        self._known[id(value)] = size, value
        return size


def counted(*arguments: int) -> range:
    """Return a range of a bounded length."""
    numbers = range(*arguments)
    if len(numbers) > MAX_RANGE:
        raise TooMuch(f"makes a range of more than {MAX_RANGE:,} numbers")
    return numbers


_sizes: ContextVar[Sizes] = ContextVar("sizes")


def sized(value: Any) -> Any:
    """Return *value*; raises `TooMuch` if it is too large."""
    return _sizes.get().check(value)


def _padding(text: str, arguments: Iterable[Any]) -> None:
    _format(text)
    for argument in arguments:
        if isinstance(argument, int) and argument > MAX_LENGTH:
            raise TooMuch(f"makes a text of more than {MAX_LENGTH >> 20} MiB")


def _format(text: str) -> None:
    if ("%" in text or "{" in text) and _WIDE.search(text):
        raise TooMuch(f"formats a value with a width of more than {MAX_WIDTH_DIGITS} digits")


def _length(size: int) -> None:
    if size > MAX_LENGTH:
        raise TooMuch(f"makes a text or list of more than {MAX_LENGTH >> 20} MiB")


def _tracer() -> Callable[[FrameType, str, Any], Any]:
    """Return a trace function that ends a template after too many steps or too long a time."""
    began = time.thread_time()
    steps = calls = 0

    def check_time() -> None:
        if time.thread_time() - began > MAX_SECONDS:
            raise TooMuch(f"takes more than {MAX_SECONDS} seconds")

    def line(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        if event == "line":
            steps += 1
            if steps > MAX_STEPS:
                raise TooMuch(f"takes more than {MAX_STEPS:,} steps")
            if not steps % _CHECK_EVERY:
                check_time()
        return line

    def enter(frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal calls
        calls += 1
        if not calls % _CHECK_EVERY:
            check_time()
        name = frame.f_code.co_filename.replace("\\", "/")
        return line if name.endswith(_COUNTED) else None

    return enter


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Let the process grow by `MAX_MEMORY` at most, where the system can say how large it is."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError, ValueError):
        yield
        return
    known = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    try:
        resource.setrlimit(resource.RLIMIT_AS, (min([size + MAX_MEMORY, *known]), hard))
    except (OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
