"""Compare the Paddle of a rehearsal with that of its image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paddlespec.images.reference import host_and_rest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paddlespec.render.manifest import Manifest

_IMAGE = re.compile(r"paddlepaddle/paddle[\w.-]*:v?(\d+)\.(\d+)(?:\.\d+)?[\w.-]*")
_INSTALLS = re.compile(r"\bpip[0-9.]*\b.*\binstall\b", re.DOTALL)
_VERSION = re.compile(r"(\d+)\.(\d+)")
_ASK = """\
import sys
from importlib.util import find_spec
if find_spec("paddle") is None:
    sys.exit(3)
from importlib.metadata import distributions
names = {"paddlepaddle", "paddlepaddle-gpu"}
known = [one for one in distributions() if (one.metadata["Name"] or "").lower() in names]
print(known[0].version if known else "")
"""
_LACKS = 3
_SECONDS = 60


def remarks(
    processes: Sequence[Manifest], python: str, cwd: str, shell: Mapping[str, str]
) -> Iterator[str]:
    """
    Say how the Paddle of *python* differs from that of the images of *processes*.

    Images other than Paddle's are skipped, and so are processes that install packages themselves
    and versions that are unknown.
    """
    images: dict[str, str] = {}
    for process in processes:
        image = process["spec"].get("image", "")
        match = _IMAGE.fullmatch(host_and_rest(image)[1].partition("@")[0])
        if match and not any(map(_INSTALLS.search, process["spec"]["command"])):
            images[f"{match[1]}.{match[2]}"] = image
    if not images:
        return
    here = installed(python, cwd, shell)
    if here is None:
        yield (
            f"{python} has no Paddle, and the image has {' and '.join(images)}: install it with "
            "pip install 'paddlespec[paddle]', or choose another interpreter with --python"
        )
        return
    match = _VERSION.match(here)
    for version, image in images.items():
        if match and f"{match[1]}.{match[2]}" != version:
            yield (
                f"this rehearsal uses Paddle {here}, and {image} has {version}: to rehearse with "
                "that version, add it to requirements.txt, or use --python"
            )


def installed(python: str, cwd: str, shell: Mapping[str, str]) -> str | None:
    """Return the version of Paddle that *python* imports; None without one, empty if unknown."""
    from subprocess import DEVNULL, PIPE, SubprocessError, run

    env = {key: value for key, value in shell.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    try:
        answer = run(
            [python, "-c", _ASK],
            cwd=cwd,
            env=env,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, SubprocessError):
        return ""
    return None if answer.returncode == _LACKS else answer.stdout.decode(errors="replace").strip()
