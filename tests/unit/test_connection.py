"""The cluster, context and namespace that kubectl uses."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from paddlespec.backends.cluster.api.connection import Connection, resolve
from paddlespec.runs.failures import OperationFailed

if TYPE_CHECKING:
    from pathlib import Path


def kubeconfig(folder: Path, name: str, *contexts: str, current: str | None = None) -> str:
    """Write a kubeconfig with a cluster for each context, given as `name` or `name/namespace`."""
    lines = ["apiVersion: v1", "kind: Config"]
    for section in ("clusters", "users", "contexts"):
        lines.append(f"{section}:")
        for context in contexts:
            own, _, namespace = context.partition("/")
            inside = {
                "clusters": f"cluster: {{server: 'https://{own}.{name}'}}",
                "users": f"user: {{token: secret-of-{own}}}",
                "contexts": f"context: {{cluster: {own}, user: {own}"
                + (f", namespace: {namespace}}}" if namespace else "}"),
            }[section]
            lines.append(f"- {{name: {own}, {inside}}}")
    if current:
        lines.append(f"current-context: {current}")
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def place(connection: Connection) -> tuple[str, str]:
    return connection.configuration.host, connection.namespace


def at(
    *files: str,
    flag: str | None = None,
    context: str | None = None,
    namespace: str | None = None,
    preferred: str | None = None,
) -> tuple[str, str]:
    environment = {"KUBECONFIG": os.pathsep.join(files)}
    return place(resolve(flag, context, namespace, preferred, environment))


def refusal(*files: str, flag: str | None = None, context: str | None = None) -> str:
    with pytest.raises(OperationFailed) as caught:
        at(*files, flag=flag, context=context)
    message = f"{caught.value.message} / {caught.value.hint}"
    assert "secret-of" not in message
    assert "\n" not in message
    return message


def test_the_current_context_decides(tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, "f", "a/ads", "b", current="a")
    assert at(file) == ("https://a.f", "ads")
    assert at(file, context="b") == ("https://b.f", "default")
    assert at(file, namespace="other") == ("https://a.f", "other")


def test_a_preferred_context_overrides_the_current_one(tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, "f", "a", "b", current="a")
    assert at(file, preferred="b")[0] == "https://b.f"
    assert at(file, preferred="b", context="a")[0] == "https://a.f"


def test_the_first_of_several_files_wins(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    absent = str(tmp_path / "absent")
    one = kubeconfig(tmp_path, "one", "a/first")
    two = kubeconfig(tmp_path, "two", "a/second", "b", current="a")
    three = kubeconfig(tmp_path, "three", "b", current="b")
    assert at(absent, str(empty), one, two, three) == ("https://a.one", "first")
    assert at(one, two, three, context="b") == ("https://b.two", "default")


def test_the_option_overrides_the_variable(tmp_path: Path) -> None:
    one = kubeconfig(tmp_path, "one", "a", current="a")
    two = kubeconfig(tmp_path, "two", "b", current="b")
    assert at(one, flag=two)[0] == "https://b.two"


def test_the_token_is_sent(tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, "f", "a", current="a")
    configuration = resolve(file, None, None).configuration
    assert configuration.auth_settings()["BearerToken"]["value"] == "Bearer secret-of-a"


def test_missing_contexts_and_files_are_named(tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, "f", "lab", "prod", current="lab")
    headless = kubeconfig(tmp_path, "headless", "lab")
    assert "no cluster is configured" in refusal(str(tmp_path / "absent"))
    assert "absent does not exist" in refusal(file, flag=str(tmp_path / "absent"))
    assert 'no context "labs"' in refusal(file, context="labs")
    assert 'did you mean "lab"?' in refusal(file, context="labs")
    assert "has no current context" in refusal(headless)


BROKEN = {
    "not-yaml": "users: [{token: secret-of-a}",
    "a-list": "[secret-of-a]",
    "no-cluster": "{contexts: [{name: a, context: {cluster: x, user: a}}], current-context: a,"
    " users: [{name: a, user: {token: secret-of-a}}], clusters: []}",
    "no-user-name": "{contexts: [{name: a, context: {cluster: x, user: a}}], current-context: a,"
    " users: [{user: {token: secret-of-a}}], clusters: [{name: x, cluster: {server: x}}]}",
    "no-file": "{contexts: [{name: a, context: {cluster: x, user: a}}], current-context: a,"
    " users: [{name: a, user: {client-certificate: /absent, token: secret-of-a}}],"
    " clusters: [{name: x, cluster: {server: 'https://x', certificate-authority: /absent}}]}",
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused_without_its_contents(tmp_path: Path, case: str) -> None:
    path = tmp_path / "config"
    path.write_text(BROKEN[case], encoding="utf-8")
    assert str(path) in refusal(str(path))


def test_a_folder_is_not_a_kubeconfig(tmp_path: Path) -> None:
    assert "cannot read kubeconfig" in refusal(str(tmp_path))


def test_credentials_in_an_address_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        "clusters: [{name: c, cluster: {server: 'https://me:secret-of-me@one.test:6443/k8s'}}]\n"
        "users: [{name: u, user: {token: x}}]\n"
        "contexts: [{name: t, context: {cluster: c, user: u}}]\n"
        "current-context: t\n",
        encoding="utf-8",
    )
    assert at(str(path)) == ("https://one.test:6443/k8s", "default")
