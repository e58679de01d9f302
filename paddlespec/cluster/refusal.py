"""
Refusals: what the API server answers, in our own words.

Its messages quote what they refuse, environment values included, so no text of theirs is ever
shown: only names whose form is known, and the paths of fields.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from paddlespec.backend import OperationFailed

_TYPED = "failed to create typed patch object"
_CONVERT = "failed to convert"

_NAME = r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?)"
_QUOTA = re.compile(rf'\S+ "[^"]*" is forbidden: exceeded quota: {_NAME}(?=,|$)')
_QUOTA_KEYS = re.compile(r"(requested|used|limited): ([\w./-]+=[\w.]+(?:,[\w./-]+=[\w.]+)*)")
_WEBHOOK = re.compile(rf'admission webhook "{_NAME}" denied the request')
_POD_SECURITY = re.compile(r'\S+ "[^"]*" is forbidden: violates PodSecurity "(\w+:[\w.]+)"')
_RIGHT = re.compile(r'.* cannot (\w+) resource "([\w/]+)" in API group "[\w.-]*"')
_MANAGER = re.compile(r'conflict with "([\w./ -]+)"')
# `.spec.template.spec.containers[name="paddle"].env: duplicate entries for key [name="A"]`
_TYPED_FAULT = re.compile(
    r'(?P<path>(?:\.[\w/-]+|\[name="[\w.-]+"\])+)'
    r": (?P<fault>field not declared in schema|expected \w+, got|duplicate entries for key)"
)
_FIELD = re.compile(r'[\w.\[\]/=",:*-]{1,200}\Z')
_FAULTS = {"field not declared in schema": "unknown field", "duplicate entries for key": "repeated"}


class Request(NamedTuple):
    """What was asked, as far as a person wants to know."""

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
    """An answer that is not the wanted one."""

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

    @property
    def may_pass(self) -> bool:
        """Whether the same request may be answered otherwise in a moment."""
        return self.status == 429 or (self.status >= 500 and not self.is_users_fault)

    @property
    def is_no_answer(self) -> bool:
        """Whether it says nothing about an object: nobody is known, or nothing answers."""
        return self.status == 401 or self.may_pass


class Refused(OperationFailed):
    """The API server refused."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message, refusal.hint)
        self.refusal = refusal


def refusal(request: Request, status: int, content: bytes) -> Refusal:
    """Put an answer into words."""
    answer = _answer(content)
    said = str(answer.get("message") or "")
    details = answer.get("details")
    details = details if isinstance(details, dict) else {}
    causes = [each for each in details.get("causes") or () if isinstance(each, dict)]
    reason = str(answer.get("reason") or "")
    reason = reason if reason.isalpha() else ""
    found = Refusal(request, status, reason, "", fields=_fields(causes))
    if status == 401:
        return found._replace(
            message=f"the cluster does not know who asks: {request.verb} {request}{request.place}",
            hint="the credentials of the kubeconfig are missing or have expired",
        )
    if status == 403:
        return _forbidden(found, said, causes)
    if status == 404:
        return _absent(found, details)
    if status == 409:
        return _conflict(found, said, causes)
    if said.startswith((_TYPED, _CONVERT)):
        return _mistyped(found, said)
    if status == 422:
        return _invalid(found, said, causes)
    webhook = _WEBHOOK.match(said)
    if webhook:
        return _denied(found, webhook[1])
    if status == 413:
        return found._replace(message=f"{request} is too large for the API server")
    told = f"{status} {reason}".strip()
    if status == 429:
        return found._replace(message=f"the API server is overloaded ({told}): {request}")
    if status >= 500:
        return found._replace(message=f"the API server failed ({told}): {request.verb} {request}")
    return found._replace(message=f"the API server refused {request} ({told})")


def _answer(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _fields(causes: list[dict[str, Any]]) -> tuple[str, ...]:
    found = (str(each.get("field") or "").lstrip(".") for each in causes)
    return tuple(dict.fromkeys(each for each in found if _FIELD.match(each)))


def _forbidden(found: Refusal, said: str, causes: list[dict[str, Any]]) -> Refusal:
    request = found.request
    if quota := _QUOTA.match(said):
        amounts = "; ".join(
            f"{each[1]} {each[2]}" for each in _QUOTA_KEYS.finditer(said, quota.end())
        )
        return found._replace(
            message=f"{request} exceeds the quota {quota[1]}{request.place}"
            + (f" ({amounts})" if amounts else "")
        )
    if security := _POD_SECURITY.match(said):
        return found._replace(
            message=f'{request} violates the Pod Security level "{security[1]}"{request.place}'
        )
    if webhook := _WEBHOOK.match(said):
        return _denied(found, webhook[1])
    if any(each.get("reason") == "NamespaceTerminating" for each in causes):
        return found._replace(message=f"namespace {request.namespace} is being deleted")
    if right := _RIGHT.match(said):
        told = f"you may not {right[1]} {right[2]}{request.place}"
        if not request.namespace:
            return found._replace(message=told, hint="ask for the right")
        return found._replace(
            message=f"{told}, or there is no such namespace",
            hint="ask for the right, or choose another namespace with -n",
        )
    if said.rstrip().endswith("is forbidden:"):
        # Whether a request for streams may create is asked a second time, without a reason.
        return found._replace(
            message=f"you may not {request.verb} {request.plural}{request.place}",
            hint="ask for the right",
        )
    return found._replace(message=f"a rule of the cluster forbids {request}{request.place}")


def _denied(found: Refusal, webhook: str) -> Refusal:
    request = found.request
    return found._replace(
        message=f'{request}: the admission webhook "{webhook}" of the cluster denied it',
        hint=f"its reason is shown by: paddlespec render ... | kubectl apply --server-side "
        f"--dry-run=server -n {request.namespace} -f -",
        is_users_fault=True,
    )


def _absent(found: Refusal, details: dict[str, Any]) -> Refusal:
    request = found.request
    if details.get("kind") == "namespaces":
        return found._replace(
            message=f"there is no namespace {request.namespace}, or you may not use it",
            hint=f"kubectl create namespace {request.namespace}, or choose another with -n",
        )
    if details.get("name"):
        return found._replace(message=f"there is no {request}{request.place}")
    return found._replace(
        message=f"the cluster knows no {request.kind}",
        hint="what defines this kind is not installed there",
    )


def _conflict(found: Refusal, said: str, causes: list[dict[str, Any]]) -> Refusal:
    request = found.request
    conflicts = []
    for each in causes:
        manager = _MANAGER.match(str(each.get("message") or ""))
        if each.get("reason") == "FieldManagerConflict" and manager:
            conflicts.append(Conflict(manager[1], str(each.get("field") or "").lstrip(".")))
    if conflicts:
        shown = [each for each in conflicts if _FIELD.match(each.field)]
        told = ", ".join(f"{each.field} ({each.manager})" for each in shown)
        return found._replace(
            message=f"{request}: others have set fields of it: {told}",
            hint="remove the field from the spec, or take it: paddlespec apply --force-conflicts",
            conflicts=tuple(conflicts),
        )
    if "object is being deleted" in said:
        return found._replace(message=f"{request} is being deleted")
    if "object has been modified" in said:
        return found._replace(
            message=f"{request} is being changed by others at the same moment{request.place}",
            hint="see what it is now: paddlespec diff",
            is_stale=True,
        )
    return found._replace(
        message=f"{request} changed at the same moment{request.place}: it was replaced or deleted",
        hint="look at what is there, then try again",
    )


def _mistyped(found: Refusal, said: str) -> Refusal:
    faults = []
    for each in _TYPED_FAULT.finditer(said):
        fault = each["fault"]
        word = _FAULTS.get(fault) or f"wrong type, {fault.removesuffix(', got')}"
        faults.append((each["path"].lstrip("."), word))
    told = ", ".join(f"{path}: {word}" for path, word in dict.fromkeys(faults))
    hint = "a patch of the spec, or a template, put it there"
    if not told:
        told = "a value has not the form that its field wants, such as a quantity"
    return found._replace(
        message=f"{found.request}: {told}",
        hint=hint,
        fields=tuple(dict.fromkeys(path for path, _ in faults)),
        is_users_fault=True,
    )


def _invalid(found: Refusal, said: str, causes: list[dict[str, Any]]) -> Refusal:
    texts = [said, *(str(each.get("message") or "") for each in causes)]
    immutable = any(
        "field is immutable" in each or "updates to statefulset spec for fields other" in each
        for each in texts
    )
    told = ", ".join(found.fields) or "the server names no field"
    if immutable:
        return found._replace(
            message=f"{found.request}: a change that needs a replacement: {told}",
            is_immutable=True,
        )
    return found._replace(
        message=f"{found.request}: not valid: {told}",
        hint="a patch, a template or a value of the spec; the fields are those of `render`",
    )
