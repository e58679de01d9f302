"""
Print what would change as the comment of a pull request.

Text from a spec is never markup: it cannot mention, link, or close a code fence. Lines that do
not fit in a comment are left out, and the comment names what is missing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.change.diff import Operation
from paddlespec.report.objects import lines
from paddlespec.report.remarks import is_reported, remarks, title
from paddlespec.report.summary import facts, plan
from paddlespec.report.width import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddlespec.change.diff import Comparison
    from paddlespec.report.hidden import Hidden
    from paddlespec.report.objects import Line

MARKER = "<!-- paddlespec:diff -->"
MOST = 65_000
# Room for the list of what was left out, and for the last line.
_RESERVED = 6_000
_MOST_NAMES = 10
_LONGEST_CELL = 200
# `!` is the symbol that GitHub colors as neither added nor removed.
_FIRST = {"+": "+", "-": "-", " ": " ", "~": "!", "-/+": "!", "?": "!"}
# GitHub finds mentions and references in any text outside of `<code>`, escaped or not.
_MARKUP = re.compile(r"[^\w\s.,;:=/+()%#-]|_|:(?=//)|(?<=www)\.")


class _Page(NamedTuple):
    """The parts of a comment, and the number of characters left."""

    parts: list[str]
    left: list[int]

    def put(self, text: str) -> bool:
        """Append *text* if it fits."""
        if len(text) > self.left[0]:
            return False
        self.left[0] -= len(text)
        self.parts.append(text)
        return True


def markdown(comparisons: Sequence[Comparison], hidden: Hidden) -> str:
    """Build the comment; it starts with the marker that identifies it and ends with the plan."""
    shown = [comparison for comparison in comparisons if is_reported(comparison)]
    ending = f"{plan(comparisons)}\n"
    page = _Page([f"{MARKER}\n"], [MOST - _RESERVED - len(MARKER) - len(ending)])
    if shown:
        page.put(f"Compared with {_code(hidden.text(shown[0].against))}.\n\n")
        left_out = _table(page, shown, hidden)
        page.put("\n")
        left_out += _details(page, shown, hidden)
        page.parts.extend([*_missing(left_out), "\n"] if left_out else [])
    return "".join([*page.parts, ending])


def _table(page: _Page, shown: Sequence[Comparison], hidden: Hidden) -> list[str]:
    """Append a row per job, in at most half of the space; return the jobs that did not fit."""
    page.put("| job | objects | what changes |\n|---|---|---|\n")
    half = page.left[0] // 2
    for index, comparison in enumerate(shown):
        texts = [f"{fact.name}: {fact}" for fact in facts(comparison, hidden.text)]
        if comparison.problems:
            texts.append(f"{len(comparison.problems)} objects could not be compared")
        if conflicts := sum(row.conflict is not None for row in comparison.rows):
            texts.append(f"{conflicts} objects in conflict with other managers")
        texts += [hidden.text(remark) for remark in remarks(comparison)]
        cells = "<br>".join(_code(shortened(text, _LONGEST_CELL)) for text in texts)
        row = f"| {_code(title(comparison))} | {_counts(comparison)} | {cells} |\n"
        if page.left[0] - len(row) < half or not page.put(row):
            return [f"rows of {_names(shown[index:])}"]
    return []


def _counts(comparison: Comparison) -> str:
    counts = dict.fromkeys(Operation, 0)
    for row in comparison.rows:
        counts[row.change.operation] += 1
    return ", ".join(
        f"{count} to {operation.value}"
        for operation, count in counts.items()
        if count and operation is not Operation.keep
    )


def _details(page: _Page, shown: Sequence[Comparison], hidden: Hidden) -> list[str]:
    """Append the objects of each job, folded; return what did not fit."""
    left_out = []
    skipped = []
    for comparison in shown:
        rows = [_line(line) for row in comparison.rows for line in lines(row, hidden)]
        if page.put(_block(comparison, rows, shown, hidden)):
            continue
        kept = _fitting(rows, page.left[0] - len(_block(comparison, [], shown, hidden)) - 200)
        if kept and page.put(_block(comparison, [*kept, "  …"], shown, hidden)):
            count = len(rows) - len(kept)
            left_out.append(f"{count:,} lines of {_code(title(comparison))}")
        else:
            skipped.append(comparison)
    return [*left_out, *([f"objects of {_names(skipped)}"] if skipped else [])]


def _block(
    comparison: Comparison, rows: Sequence[str], shown: Sequence[Comparison], hidden: Hidden
) -> str:
    text = "".join(f"{line}\n" for line in rows)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    against = ""
    if comparison.against != shown[0].against:
        against = f"Compared with {_code(hidden.text(comparison.against))}.\n\n"
    nothing = "not compared" if comparison.problems else "no changes"
    summary = f"<summary>{_code(title(comparison))}: {_counts(comparison) or nothing}"
    return (
        f"<details>\n{summary}</summary>\n\n{against}{fence}diff\n{text}{fence}\n\n</details>\n\n"
    )


def _line(line: Line) -> str:
    """Print a line with its symbol in the first column, as in a diff."""
    first = _FIRST[line.symbol]
    own = "" if line.depth or first == line.symbol else f"{line.symbol} "
    return f"{first} {'  ' * line.depth}{own}{line.text}".rstrip()


def _fitting(text_lines: Sequence[str], room: int) -> list[str]:
    kept = []
    for line in text_lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept


def _missing(left_out: Sequence[str]) -> list[str]:
    return [f"Left out because of the size limit of comments: {'; '.join(left_out)}.\n"]


def _names(comparisons: Sequence[Comparison]) -> str:
    names = [shortened(title(comparison), 40) for comparison in comparisons[:_MOST_NAMES]]
    more = len(comparisons) - len(names)
    return ", ".join(map(_code, names)) + (f" and {more:,} more jobs" if more else "")


def _code(text: str) -> str:
    return f"<code>{_escaped(visible(text))}</code>"


def _escaped(text: str) -> str:
    """Escape *text* for Markdown and HTML."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", text)
