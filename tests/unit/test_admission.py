"""Rules of a cluster are named, and what they quote is not repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paddlespec.backends.cluster.api.refusal import Refusal, Request, refusal
from paddlespec.backends.cluster.api.server_warnings import ServerWarnings

REQUEST = Request("patch", "jobs", "Job", "ads", "fit")
POLICY = "Policy 'team' with binding 'team-all' denied request: needs canary"
CALL = 'Internal error occurred: failed calling webhook "validate.kyverno.svc-fail": '
POST = 'failed to call webhook: Post "https://kyverno/validate?timeout=10s": '


def refused(status: int, message: str) -> Refusal:
    answer = {"kind": "Status", "message": message, "reason": "Invalid"}
    return refusal(REQUEST, status, json.dumps(answer).encode())


@pytest.mark.parametrize("status", [401, 403, 413, 422])
def test_a_policy_that_denies_is_named_whatever_its_status(status: int) -> None:
    message = f'jobs.batch "fit" is forbidden: ValidatingAdmission{POLICY}'
    result = refused(status, message)
    assert result.message == 'Job/fit was denied by policy "team" (binding "team-all")'
    assert "--dry-run=server -n ads" in str(result.hint)
    assert not result.may_pass
    assert not result.is_no_answer


def test_a_mutating_policy_that_fails_is_named() -> None:
    message = "policy 'inject' with binding 'inject-all' denied request: JSON Patch: canary"
    expected = 'Job/fit was denied by policy "inject" (binding "inject-all")'
    assert refused(403, message).message == expected


@pytest.mark.parametrize(
    ("fault", "words", "may_pass"),
    [
        (f"{POST}dial tcp 10.0.0.1:443: connect: connection refused", ": connection refused", True),
        (f"{POST}context deadline exceeded", ": no answer in time", False),
        (f"{POST}tls: failed to verify certificate: x509: canary", ": its certificate", True),
        (f'{POST}service "kyverno" not found', ": its service does not exist", True),
        (f"{POST}no endpoints available for service", ": none of its pods is ready", True),
        (f"{POST}dial tcp: lookup a.invalid: no such host", ": unknown host", True),
        ("expected response.uid=canary", "cannot be reached", True),
    ],
)
def test_a_webhook_that_fails_is_named(fault: str, words: str, may_pass: bool) -> None:
    result = refused(500, CALL + fault)
    name = 'admission webhook "validate.kyverno.svc-fail"'
    assert result.message.startswith(f"Job/fit cannot be checked: {name} cannot be reached")
    assert words in result.message
    assert "canary" not in result.message
    assert "ask who runs it" in str(result.hint)
    assert (result.may_pass, result.is_no_answer) == (may_pass, False)


def test_a_rule_is_recognized_only_where_the_server_names_it() -> None:
    quoted = (
        f"""Job.batch "fit" is invalid: spec.x: Invalid value: "ValidatingAdmission{POLICY}\""""
    )
    assert "policy" not in refused(422, quoted).message
    assert refused(500, "etcd: canary").is_no_answer


def warned(*texts: str, body: Any = None) -> list[str]:
    lines: list[str] = []
    warnings = ServerWarnings(lines.append)
    sent = None if body is None else json.dumps(body).encode()
    for text in texts:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        warnings.take([f'299 - "{escaped}"'], sent)
    return lines


BODY = {
    "metadata": {"annotations": {"note": "moonlight"}},
    "spec": {"containers": [{"name": "paddle", "env": [{"name": "A", "value": "hunter2 x"}]}]},
}


def test_warnings_of_pod_security_and_policies_are_paraphrased() -> None:
    level = 'would violate PodSecurity "restricted:latest": unrestricted capabilities (container '
    policy = "Validation failed for ValidatingAdmissionPolicy 'a' with binding 'b': needs hunter2"
    checks = "(runAsNonRoot != true, unrestricted capabilities)"
    level_line = f'pods of this job would violate Pod Security level "restricted:latest" {checks}'
    policy_line = 'policy "a" (binding "b") objects to this job; for now the cluster only warns'
    lines = warned(f'{level}"paddle" must set ...), runAsNonRoot != true (pod)', policy)
    assert lines == [f"warning: {level_line}", f"warning: {policy_line}"]


def test_other_warnings_are_shown_unless_they_quote_a_value() -> None:
    text = 'batch/v1beta1 Job is deprecated: container "paddle"'
    assert warned(text, text, body=BODY) == [f"warning: the cluster warns: {text}"]
    hidden = "warning: the cluster sent a warning that is not shown"
    for quote in ("is hunter2", 'is "moonlight"', "is AKIAABCDEFGHIJKLMNOP"):
        (line,) = warned(quote, body=BODY)
        assert line.startswith(hidden)


def test_warnings_are_bounded() -> None:
    (long,) = warned("x" * 5000)
    assert len(long) < 400
    lines = warned(*(f"warning {number}" for number in range(100)))
    assert len(lines) == 11
    assert lines[-1].endswith("which are not shown")


def test_one_header_may_hold_several_warnings() -> None:
    lines: list[str] = []
    ServerWarnings(lines.append).take(['299 - "one", 299 apiserver "two \\"2\\""', "garbage"], None)
    assert lines == ["warning: the cluster warns: one", 'warning: the cluster warns: two "2"']
