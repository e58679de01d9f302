"""
Translate refusals of the API server into messages of paddlespec.

The server's messages quote what they refuse, including values of environment variables. They are
never shown as a whole: only names in known formats and the paths of fields are copied.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from paddlespec.answers import parsed
from paddlespec.backends.cluster.api import limit_range
from paddlespec.backends.cluster.api.admission import missing_priority, pod_security, verdict
from paddlespec.render.shape import STATUS
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from paddlespec.backends.cluster.api.admission import Verdict

_TYPED = "failed to create typed patch object"
_CONVERT = "failed to convert"

_NAME = r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?)"
_QUOTA = re.compile(rf'\S+ "[^"]*" is forbidden: exceeded quota: {_NAME}(?=,|$)')
_QUOTA_KEYS = re.compile(r"(requested|used|limited): ([\w./-]+=[\w.]+(?:,[\w./-]+=[\w.]+)*)")
_RIGHT = re.compile(r'.* cannot (\w+) resource "([\w/]+)" in API group "[\w.-]*"')
_MANAGER = re.compile(r'conflict with "([\w./ -]+)"')
# `.spec.template.spec.containers[name="paddle"].env: duplicate entries for key [name="A"]`
_TYPED_FAULT = re.compile(
    r'(?P<path>(?:\.[\w/-]+|\[name="[\w.-]+"\])+)'
    r": (?P<fault>field not declared in schema|expected \w+, got|duplicate entries for key)"
)
# Of Kubernetes itself, of rules in the definitions of kinds, and of webhooks.
_IMMUTABLE = (
    "field is immutable",
    "Value is immutable",
    "updates to statefulset spec for fields other",
)
_DENIED_FIELD = re.compile(r"denied the request: (?P<path>[\w.\[\]]{1,200}): Invalid value")
_FIELD = re.compile(r'[\w.\[\]/=",:*-]{1,200}\Z')
_FAULTS = {"field not declared in schema": "unknown field", "duplicate entries for key": "repeated"}


_FIT_POD_SECURITY = "patch the security context: docs/targets.md, Pod Security"
_ASK_FOR_RIGHT = "ask an administrator of the cluster for this right"


class Request(NamedTuple):
    """What was requested, as shown in messages."""

    verb: str
    plural: str
    kind: str
    namespace: str | None = None
    name: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}" if self.name else self.plural

    @property
    def place(self) -> str:
        return f" in namespace {self.namespace}" if self.namespace else ""


class Conflict(NamedTuple):
    """A field that another field manager owns."""

    manager: str
    field: str


class Refusal(NamedTuple):
    """An unsuccessful response, translated."""

    request: Request
    status: int
    reason: str
    message: str
    hint: str | None = None
    fields: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    is_immutable: bool = False
    is_users_fault: bool = False
    is_stale: bool = False
    is_rule: bool = False
    refuses_dry_runs: bool = False

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed after a moment."""
        return not self.is_users_fault and (self.status == 429 or self.status >= 500)

    @property
    def is_no_answer(self) -> bool:
        """Whether it says nothing about the object: the user is unauthenticated, or the server fails."""
        return not self.is_rule and (self.status == 401 or self.may_pass)


class Refused(OperationFailed):
    """The API server refused a request."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message, refusal.hint)
        self.refusal = refusal


def refusal(request: Request, status: int, content: bytes) -> Refusal:
    """Translate an unsuccessful response."""
    answer = _answer(content)
    text = str(answer.get("message") or "")
    details = answer.get("details")
    details = details if isinstance(details, dict) else {}
    causes = [cause for cause in details.get("causes") or () if isinstance(cause, dict)]
    reason = str(answer.get("reason") or "")
    reason = reason if reason.isalpha() else ""
    base = Refusal(request, status, reason, "", fields=_fields(causes))
    if ruled := verdict(text):
        # Policies and webhooks choose the status themselves.
        return _ruled(base._replace(is_rule=True), ruled, text)
    if status == 401:
        return base._replace(
            message=f"the cluster rejected your credentials: {request.verb} {request}{request.place}",
            hint="log in again; the credentials of the kubeconfig are missing or have expired",
        )
    if status == 403:
        return _forbidden(base, text, causes)
    if status == 404:
        return _absent(base, details)
    if status == 409:
        return _conflict(base, text, causes)
    if text.startswith((_TYPED, _CONVERT)):
        return _mistyped(base, text)
    if status == 422:
        return _invalid(base, text, causes)
    if status == 413:
        return base._replace(message=f"{request} is too large for the API server")
    code = f"{status} {reason}".strip()
    if status == 429:
        return base._replace(message=f"the API server is overloaded ({code}): {request}")
    if status >= 500:
        return base._replace(message=f"the API server failed ({code}): {request.verb} {request}")
    return base._replace(message=f"the API server refused {request} ({code})")


def _answer(content: bytes) -> dict[str, Any]:
    try:
        answer = parsed(content)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) and not STATUS.fault(answer) else {}


def _fields(causes: list[dict[str, Any]]) -> tuple[str, ...]:
    fields = (str(cause.get("field") or "").lstrip(".") for cause in causes)
    return tuple(dict.fromkeys(field for field in fields if _FIELD.match(field)))


def _forbidden(base: Refusal, text: str, causes: list[dict[str, Any]]) -> Refusal:
    request = base.request
    if quota := _QUOTA.match(text):
        amounts = "; ".join(
            f"{match[1]} {match[2]}" for match in _QUOTA_KEYS.finditer(text, quota.end())
        )
        return base._replace(
            message=f"{request} exceeds quota {quota[1]}{request.place}"
            + (f" ({amounts})" if amounts else "")
        )
    if level := pod_security(text):
        return base._replace(
            message=f"{request} violates Pod Security level {level}{request.place}",
            hint=_FIT_POD_SECURITY,
            is_users_fault=True,
        )
    if priority := missing_priority(text):
        return base._replace(
            message=f"{request} cannot be created: priority class {priority} does not exist",
            hint="correct scheduling.priority; `kubectl get priorityclasses` lists the classes",
            is_users_fault=True,
        )
    if limit := limit_range.violation(text):
        return base._replace(
            message=f"{request} cannot be created{request.place}: {limit}",
            hint="request what the namespace allows: `kubectl describe limitranges`",
            is_users_fault=True,
        )
    if any(cause.get("reason") == "NamespaceTerminating" for cause in causes):
        return base._replace(message=f"namespace {request.namespace} is being deleted")
    if right := _RIGHT.match(text):
        reason = f"you may not {right[1]} {right[2]}{request.place}"
        if not request.namespace:
            return base._replace(message=reason, hint=_ASK_FOR_RIGHT)
        return base._replace(
            message=f"{reason}, or the namespace does not exist",
            hint=f"{_ASK_FOR_RIGHT}, or choose another namespace with -n",
        )
    if text.rstrip().endswith("is forbidden:"):
        # Requests for streams are authorized a second time, as create, and that refusal has no reason.
        return base._replace(
            message=f"you may not {request.verb} {request.plural}{request.place}",
            hint=_ASK_FOR_RIGHT,
        )
    return base._replace(message=f"a policy of the cluster forbids {request}{request.place}")


def _ruled(base: Refusal, ruled: Verdict, text: str) -> Refusal:
    request = base.request
    if ruled.refuses_dry_runs:
        return base._replace(
            message=f"{request} cannot be checked: {ruled.rule} does not support dry runs",
            refuses_dry_runs=True,
        )
    if ruled.fault is not None:
        fault = f": {ruled.fault}" if ruled.fault else ""
        return base._replace(
            message=f"{request} cannot be checked: {ruled.rule} cannot be reached{fault}",
            hint="ask who runs it; the cluster accepts no such object without its answer",
            is_users_fault=ruled.is_lasting,
        )
    if any(sign in text for sign in _IMMUTABLE):
        field = _DENIED_FIELD.search(text)
        return _immutable(base._replace(fields=(field["path"],) if field else base.fields))
    return base._replace(
        message=f"{request} was denied by {ruled.rule}",
        hint=f"show its reason with: paddlespec render ... | kubectl apply --server-side "
        f"--dry-run=server -n {request.namespace} -f -",
        is_users_fault=True,
    )


def _absent(base: Refusal, details: dict[str, Any]) -> Refusal:
    request = base.request
    if details.get("kind") == "namespaces":
        return base._replace(
            message=f"namespace {request.namespace} does not exist, or you may not use it",
            hint=f"create it with `kubectl create namespace {request.namespace}`, "
            "or choose another with -n",
        )
    if details.get("name"):
        return base._replace(message=f"{request} does not exist{request.place}")
    return base._replace(
        message=f"the cluster does not serve kind {request.kind}",
        hint="install the extension that defines this kind",
    )


def _conflict(base: Refusal, text: str, causes: list[dict[str, Any]]) -> Refusal:
    request = base.request
    conflicts = []
    for cause in causes:
        manager = _MANAGER.match(str(cause.get("message") or ""))
        if cause.get("reason") == "FieldManagerConflict" and manager:
            conflicts.append(Conflict(manager[1], str(cause.get("field") or "").lstrip(".")))
    if conflicts:
        shown = [conflict for conflict in conflicts if _FIELD.match(conflict.field)]
        owned = ", ".join(f"{conflict.field} ({conflict.manager})" for conflict in shown)
        return base._replace(
            message=f"{request} has fields owned by other managers: {owned}",
            hint="remove the field from the spec, or overwrite it with: "
            "paddlespec apply --force-conflicts",
            conflicts=tuple(conflicts),
        )
    if "object is being deleted" in text:
        return base._replace(message=f"{request} is being deleted")
    if "object has been modified" in text:
        return base._replace(
            message=f"{request} was modified by another client at the same time{request.place}",
            hint="compare again with: paddlespec diff",
            is_stale=True,
        )
    return base._replace(
        message=f"{request} was replaced or deleted by another client at the same time{request.place}",
        hint="check its current state, then try again",
    )


def _mistyped(base: Refusal, text: str) -> Refusal:
    faults = []
    for match in _TYPED_FAULT.finditer(text):
        fault = match["fault"]
        word = _FAULTS.get(fault) or f"wrong type, {fault.removesuffix(', got')}"
        faults.append((match["path"].lstrip("."), word))
    faults_text = ", ".join(f"{path}: {word}" for path, word in dict.fromkeys(faults))
    hint = "check the patches of the spec, and its template"
    if not faults_text:
        faults_text = "a value has the wrong format for its field, such as a quantity"
    return base._replace(
        message=f"{base.request}: {faults_text}",
        hint=hint,
        fields=tuple(dict.fromkeys(path for path, _ in faults)),
        is_users_fault=True,
    )


def _immutable(base: Refusal) -> Refusal:
    message = f"{base.request} must be replaced to change immutable fields: {_named(base)}"
    return base._replace(message=message, is_immutable=True)


def _named(base: Refusal) -> str:
    return ", ".join(base.fields) or "the server names no field"


def _invalid(base: Refusal, text: str, causes: list[dict[str, Any]]) -> Refusal:
    texts = [text, *(str(cause.get("message") or "") for cause in causes)]
    if any(sign in part for sign in _IMMUTABLE for part in texts):
        return _immutable(base)
    return base._replace(
        message=f"{base.request} is invalid: {_named(base)}",
        hint="find the field in the output of `paddlespec render`, and correct the spec, patch or "
        "template that sets it",
    )
