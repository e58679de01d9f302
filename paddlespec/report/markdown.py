"""
What would change, as the comment of a pull request.

Nothing of a spec is markup here: no mention, no link, no end of a fence. What does not fit into a
comment is left out by whole lines, and said to be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.diff import Operation
from paddlespec.report.changes import remarks, title, worth_telling
from paddlespec.report.objects import lines
from paddlespec.report.summary import facts, plan
from paddlespec.report.width import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.diff import Comparison
    from paddlespec.report.hidden import Hidden
    from paddlespec.report.objects import Line

MARKER = "<!-- paddlespec:diff -->"
MOST = 65_000
# What is said of what was left out, and the last line, have to fit behind everything else.
_RESERVED = 6_000
_MOST_NAMES = 10
_LONGEST_CELL = 200
# Of GitHub's colours of a diff `!` is the one for neither of both.
_FIRST = {"+": "+", "-": "-", " ": " ", "~": "!", "-/+": "!", "?": "!"}
# Mentions and references are found in any text that stands in no `<code>`, escaped or not.
_MARKUP = re.compile(r"[^\w\s.,;:=/+()%#-]|_|:(?=//)|(?<=www)\.")


class _Page(NamedTuple):
    """Parts of a comment, and how many characters are left."""

    parts: list[str]
    left: list[int]

    def put(self, text: str) -> bool:
        """Add *text* where it fits."""
        if len(text) > self.left[0]:
            return False
        self.left[0] -= len(text)
        self.parts.append(text)
        return True


def markdown(comparisons: Sequence[Comparison], hidden: Hidden) -> str:
    """The whole comment; a line that finds it again comes first, the sum last."""
    told = [each for each in comparisons if worth_telling(each)]
    ending = f"{plan(comparisons)}\n"
    page = _Page([f"{MARKER}\n"], [MOST - _RESERVED - len(MARKER) - len(ending)])
    if told:
        page.put(f"Compared with {_code(hidden.text(told[0].against))}.\n\n")
        left_out = _table(page, told, hidden)
        page.put("\n")
        left_out += _details(page, told, hidden)
        page.parts.extend([*_missing(left_out), "\n"] if left_out else [])
    return "".join([*page.parts, ending])


def _table(page: _Page, told: Sequence[Comparison], hidden: Hidden) -> list[str]:
    """A row per job, in at most half of the room; the jobs that did not fit."""
    page.put("| job | objects | what changes |\n|---|---|---|\n")
    half = page.left[0] // 2
    for index, comparison in enumerate(told):
        found = [f"{each.name}: {each}" for each in facts(comparison, hidden.text)]
        if comparison.problems:
            found.append(f"{len(comparison.problems)} objects could not be compared")
        found += [hidden.text(each) for each in remarks(comparison)]
        cells = "<br>".join(_code(shortened(each, _LONGEST_CELL)) for each in found)
        row = f"| {_code(title(comparison))} | {_counts(comparison)} | {cells} |\n"
        if page.left[0] - len(row) < half or not page.put(row):
            return [f"the rows of {_names(told[index:])}"]
    return []


def _counts(comparison: Comparison) -> str:
    counts = dict.fromkeys(Operation, 0)
    for row in comparison.rows:
        counts[row.change.operation] += 1
    return ", ".join(
        f"{count} to {each.value}"
        for each, count in counts.items()
        if count and each is not Operation.keep
    )


def _details(page: _Page, told: Sequence[Comparison], hidden: Hidden) -> list[str]:
    """The objects of each job, folded; what did not fit."""
    left_out = []
    skipped = []
    for comparison in told:
        found = [_line(line) for row in comparison.rows for line in lines(row, hidden)]
        if page.put(_block(comparison, found, told, hidden)):
            continue
        kept = _fitting(found, page.left[0] - len(_block(comparison, [], told, hidden)) - 200)
        if kept and page.put(_block(comparison, [*kept, "  …"], told, hidden)):
            count = len(found) - len(kept)
            left_out.append(f"{count:,} lines of {_code(title(comparison))}")
        else:
            skipped.append(comparison)
    return [*left_out, *([f"the objects of {_names(skipped)}"] if skipped else [])]


def _block(
    comparison: Comparison, found: Sequence[str], told: Sequence[Comparison], hidden: Hidden
) -> str:
    text = "".join(f"{each}\n" for each in found)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    against = ""
    if comparison.against != told[0].against:
        against = f"Compared with {_code(hidden.text(comparison.against))}.\n\n"
    nothing = "not compared" if comparison.problems else "no changes"
    summary = f"<summary>{_code(title(comparison))}: {_counts(comparison) or nothing}"
    return (
        f"<details>\n{summary}</summary>\n\n{against}{fence}diff\n{text}{fence}\n\n</details>\n\n"
    )


def _line(line: Line) -> str:
    """A line with its symbol in the first column, where a diff has it."""
    first = _FIRST[line.symbol]
    own = "" if line.depth or first == line.symbol else f"{line.symbol} "
    return f"{first} {'  ' * line.depth}{own}{line.text}".rstrip()


def _fitting(found: Sequence[str], room: int) -> list[str]:
    kept = []
    for each in found:
        room -= len(each) + 1
        if room < 0:
            break
        kept.append(each)
    return kept


def _missing(left_out: Sequence[str]) -> list[str]:
    return [f"Left out, since a comment holds no more: {'; '.join(left_out)}.\n"]


def _names(comparisons: Sequence[Comparison]) -> str:
    names = [shortened(title(each), 40) for each in comparisons[:_MOST_NAMES]]
    more = len(comparisons) - len(names)
    return ", ".join(map(_code, names)) + (f" and {more:,} more jobs" if more else "")


def _code(text: str) -> str:
    return f"<code>{_escaped(visible(text))}</code>"


def _escaped(text: str) -> str:
    """*text* without a meaning to Markdown or HTML."""
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", text)
