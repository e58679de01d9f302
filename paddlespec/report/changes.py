"""
Print what would change: as text, JSON, or the comment of a pull request.

The last line of the text and of the comment is always the plan: the sum of all changes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from paddlespec.change.diff import MISSING, Operation
from paddlespec.report.folded import rows_of_lines
from paddlespec.report.hidden import Hidden
from paddlespec.report.objects import fields
from paddlespec.report.remarks import is_reported, remarks, title
from paddlespec.report.summary import facts, plan
from paddlespec.report.width import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from paddlespec.change.diff import Comparison, Row
    from paddlespec.report.mask import Secrets
    from paddlespec.report.objects import Field, Line
    from paddlespec.report.summary import Fact
    from paddlespec.shapes import changes as shapes

Format = Literal["text", "json", "markdown", "github"]
_STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
_COLORS = {"+": "32", "-": "31", "~": "33", "-/+": "35", "?": "36"}
_INDENT = 2


def render(
    format: Format,  # noqa: A002 - the option's name
    comparisons: Sequence[Comparison],
    *,
    color: bool = False,
    secrets: Iterable[Secrets] = (),
    environment: Mapping[str, str] | None = None,
) -> str:
    """
    Print *comparisons* in *format*; *secrets* are those of the jobs before and after.

    `github` is Markdown that is also appended to the step summary named by *environment*.
    """
    hidden = Hidden(secrets, comparisons)
    if format == "json":
        return _json(comparisons, hidden)
    if format == "text":
        return "".join(f"{line}\n" for line in _text(comparisons, hidden, color=color))
    from paddlespec.report.markdown import markdown

    text = markdown(comparisons, hidden)
    if format == "github" and environment and environment.get(_STEP_SUMMARY):
        _append(environment[_STEP_SUMMARY], text)
    return text


def _text(comparisons: Sequence[Comparison], hidden: Hidden, *, color: bool) -> Iterator[str]:
    def paint(text: str, code: str | None) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if color and code and text else text

    for comparison in filter(is_reported, comparisons):
        yield paint(visible(title(comparison)), "1")
        yield paint(f"  against {visible(hidden.text(comparison.against))}", "2")
        for remark in remarks(comparison):
            yield f"  {visible(hidden.text(remark))}"
        summary = facts(comparison, hidden.text)
        widest = max((len(fact.name) for fact in summary), default=0)
        if summary:
            yield ""
        for fact in summary:
            yield f"  {fact.name:<{widest}}  {visible(str(fact))}"
        for own in rows_of_lines(comparison.rows, hidden):
            for index, line in enumerate(own):
                if not index:
                    yield ""
                code = _COLORS.get(line.symbol)
                yield paint(_written(line), code if line.depth or not color else f"1;{code}")
        yield ""
    yield paint(str(plan(comparisons)), "1")


def _written(line: Line) -> str:
    """Indent a line below its object."""
    indent = " " * (_INDENT + 2 * line.depth)
    return f"{indent}{line.symbol} {line.text}".rstrip()


def _json(comparisons: Sequence[Comparison], hidden: Hidden) -> str:
    whole = plan(comparisons)
    counts = {operation.value: count for operation, count in whole.counts.items()}
    listed = {
        "plan": str(whole),
        "differs": any(comparison.differs for comparison in comparisons),
        "counts": {
            **counts,
            "uncompared": whole.uncompared,
            "conflicting": whole.conflicting,
            "refused": whole.refused,
        },
        "resources": {
            "accelerators": _number(whole.accelerators),
            "cpu": _number(whole.cpu),
            "memory": _number(whole.memory),
        },
        "jobs": [_job(comparison, hidden) for comparison in comparisons],
    }
    return json.dumps(listed, indent=2) + "\n"


def _job(comparison: Comparison, hidden: Hidden) -> shapes.JobChanges:
    summary = facts(comparison, hidden.text) if comparison.differs else []
    return {
        "job": comparison.job,
        "namespace": comparison.namespace,
        "against": hidden.text(comparison.against),
        "differs": comparison.differs,
        "notes": [hidden.text(note) for note in comparison.notes],
        "refusal": hidden.text(comparison.refusal) if comparison.refusal else None,
        "summary": [_fact(fact) for fact in summary],
        "objects": [_object(row, hidden) for row in comparison.rows],
    }


def _fact(fact: Fact) -> shapes.Fact:
    return {
        "name": fact.name,
        "before": fact.before,
        "after": fact.after,
        "change": fact.change,
    }


def _object(row: Row, hidden: Hidden) -> shapes.ObjectChange:
    change = row.change
    shape: shapes.ObjectChange = {
        "apiVersion": change.identity.api_version,
        "kind": change.identity.kind,
        "namespace": change.identity.namespace,
        "name": change.identity.name,
        "operation": change.operation.value,
        "problem": hidden.text(row.problem) if row.problem else None,
        "conflict": hidden.text(row.conflict) if row.conflict else None,
        "fields": [_field(field) for field in fields(row, hidden)],
    }
    if change.operation is Operation.create and change.after is not None:
        shape["object"] = hidden.manifest(change.after)
    return shape


def _field(field: Field) -> shapes.FieldChange:
    shape: shapes.FieldChange = {
        "path": field.path,
        "before": field.before,
        "after": field.after,
        "effect": field.effect.value,
    }
    if field.before is MISSING:
        del shape["before"]
    if field.after is MISSING:
        del shape["after"]
    return shape


def _number(number: Any) -> int | float:
    return int(number) if number == int(number) else float(number)


def _append(path: str, text: str) -> None:
    from paddlespec.runs.failures import OperationFailed

    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise OperationFailed(f"cannot write the GitHub step summary: {reason}") from None
