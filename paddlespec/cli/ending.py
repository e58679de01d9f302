"""Removing jobs, and waiting for the end of their pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from paddlespec.cli.exits import Exit, worst
from paddlespec.cli.tell import Lines, agreed, failed, is_conversation, note, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.backend import Contents
    from paddlespec.cli.places import Engine, Engines, Meant

_POLL_SECONDS = 0.5


class Removal(NamedTuple):
    claims: bool
    ignore_absent: bool
    no_wait: bool
    yes: bool
    quiet: bool

    @property
    def verb(self) -> str:
        return "delete" if self.claims else "kill"


def remove_all(meant: Sequence[Meant], engines: Engines, removal: Removal) -> int:
    from paddlespec.backend import NotFound, OperationFailed

    codes: list[int] = []
    pending: list[tuple[str, Engine]] = []
    for each in meant:
        try:
            engine = engines.meant(each)
            found = engine.contents(each.name, claims=removal.claims)
            if not _confirmed(each.name, found, removal):
                note(f"{each.name} stays as it is")
                codes.append(Exit.refused)
                continue
            engine.remove(each.name, told, claims=removal.claims)
        except NotFound as error:
            if removal.ignore_absent:
                note(error.message)
            else:
                codes.append(failed(each.name, error))
        except OperationFailed as error:
            codes.append(failed(each.name, error))
        else:
            pending.append((each.name, engine))
    if not removal.no_wait:
        codes += _wait_until_gone(pending, removal)
    return worst(codes)


def _wait_until_gone(pending: list[tuple[str, Engine]], removal: Removal) -> list[int]:
    from paddlespec.backend import OperationFailed

    codes = []
    lines = Lines(quiet=removal.quiet)
    for name, engine in pending:
        try:
            while not (progress := engine.remaining(name, claims=removal.claims)).done:
                lines.tell(name, progress)
                engine.pause(_POLL_SECONDS)
        except OperationFailed as error:
            last = lines.last.get(name)
            codes.append(failed(name, error, f": {last}" if last else ""))
    return codes


def _confirmed(name: str, found: Contents, removal: Removal) -> bool:
    """Whether to go on: a person at a terminal is asked, a script has said what it wants."""
    if removal.yes or not is_conversation():
        return True
    running = ", ".join(f"{count} {role}" for role, count in sorted(found.replicas.items()))
    since = f" for {_age(found.since)}" if running and found.since else ""
    told = f"{running} running{since}" if running else "nothing of it runs"
    claims = ", with its claims and their data" if removal.claims else ""
    return agreed(f"{removal.verb} job {name} ({told}){claims}?")


def _age(since: str) -> str:
    """How long ago a time was, in its two largest units' worth of precision."""
    from datetime import datetime, timezone

    try:
        start = datetime.strptime(since, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return "some time"
    passed = max(0, int((datetime.now(timezone.utc) - start).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if passed >= length:
            return f"{passed // length}{unit}"
    return f"{passed}s"
