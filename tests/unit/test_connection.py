"""The cluster, context and namespace that kubectl uses."""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml

from paddlespec.backends.cluster.api.connection import Connection, resolve
from paddlespec.backends.cluster.api.kubeconfig import Entry
from paddlespec.backends.cluster.api.plain import plain
from paddlespec.runs.failures import OperationFailed


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
    return connection.host, connection.namespace


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
    assert resolve(file, None, None).authorization() == "Bearer secret-of-a"


def test_missing_contexts_and_files_are_named(tmp_path: Path) -> None:
    file = kubeconfig(tmp_path, "f", "lab", "prod", current="lab")
    headless = kubeconfig(tmp_path, "headless", "lab")
    assert "no cluster is configured:" in refusal(str(tmp_path / "absent"))
    named = refusal(str(tmp_path / "absent"), context="labs")
    assert "no cluster is configured for context labs:" in named
    assert "absent does not exist" in refusal(file, flag=str(tmp_path / "absent"))
    assert 'no context "labs"' in refusal(file, context="labs")
    assert 'did you mean "lab"?' in refusal(file, context="labs")
    assert "has no current context" in refusal(headless)


BROKEN = {
    "not-yaml": "users: [{token: secret-of-a}",
    "deep": "[" * 100_000,
    "deep-blocks": "- " * 2000 + "secret-of-a",
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


def authority(folder: Path) -> tuple[str, str]:
    """Create a certificate that signs itself, and its key; returns their paths."""
    certificate, key = str(folder / "tls.crt"), str(folder / "tls.key")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def described(folder: Path, user: str, cluster: str = "") -> Connection:
    path = folder / "config"
    path.write_text(
        f"clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:1'{cluster}}}}}]\n"
        f"users: [{{name: u, user: {user}}}]\n"
        "contexts: [{name: t, context: {cluster: c, user: u}}]\n"
        "current-context: t\n",
        encoding="utf-8",
    )
    return resolve(str(path), None, None, environment={})


PLAIN = {
    "token": ("{token: secret}", ""),
    "client-certificate": ("{client-certificate: tls.crt, client-key: tls.key}", ""),
    "client-certificate-data": ("{client-certificate-data: CERT, client-key-data: KEY}", ""),
    "authority": ("{token: secret}", ", certificate-authority: tls.crt"),
    "authority-data": ("{token: secret}", ", certificate-authority-data: CERT"),
    "insecure": ("{token: secret}", ", insecure-skip-tls-verify: true"),
    "server-name": ("{token: secret}", ", tls-server-name: api.internal"),
}


@pytest.mark.parametrize("case", PLAIN)
def test_common_credentials_need_no_client_library(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = authority(tmp_path)
    certificate, key = (base64.b64encode(Path(file).read_bytes()).decode() for file in files)
    user, cluster = (text.replace("CERT", certificate).replace("KEY", key) for text in PLAIN[case])
    connection = described(tmp_path, user, cluster)
    official = Connection.of(connection.library(), "default")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours, theirs = connection.pool(1).connection_pool_kw, official.pool(1).connection_pool_kw
    context = ours["ssl_context"]
    assert connection.authorization() == official.authorization()
    assert context.verify_mode == theirs["cert_reqs"]
    assert ours.get("server_hostname") == theirs.get("server_hostname")
    authorities = [subject["subject"] for subject in context.get_ca_certs()]
    own = ((("commonName", "127.0.0.1"),),) in authorities
    assert own == bool(theirs["ca_certs"])
    assert list(tmp_path.glob("paddlespec-*")) == []


def test_authorities_of_the_system_are_loaded_only_for_encrypted_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(
        ssl.SSLContext, "load_default_certs", lambda _context, *_: loaded.append("authorities")
    )
    for server in ("http://127.0.0.1:1", "https://127.0.0.1:1"):
        connection = plain(Entry({"server": server}, "/"), Entry({"token": "secret"}, "/"), {})
        assert connection is not None
        connection.pool(1)
    assert loaded == ["authorities"]


@pytest.mark.parametrize(
    "user",
    [
        "{username: me, password: secret}",
        "{exec: {apiVersion: client.authentication.k8s.io/v1, command: 'true'}}",
        "{client-certificate: absent, client-key: absent}",
    ],
)
def test_other_credentials_are_left_to_the_client_library(user: str) -> None:
    cluster = Entry({"server": "https://127.0.0.1:1"}, "/")
    assert plain(cluster, Entry(yaml.safe_load(user), "/"), {}) is None


def test_a_proxy_is_left_to_the_client_library() -> None:
    cluster, user = Entry({"server": "https://127.0.0.1:1"}, "/"), Entry({"token": "secret"}, "/")
    assert plain(cluster, user, {}) is not None
    proxy = {"https_proxy": "http://127.0.0.1:3128"}
    assert plain(cluster, user, proxy) is None
    assert plain(cluster, user, {**proxy, "NO_PROXY": "127.0.0.1"}) is None
    assert plain(cluster, user, {**proxy, "NO_PROXY": "*"}) is not None
    assert plain(cluster, user, {"NO_PROXY": "10.0.0.0/8", "HTTP_PROXY": ""}) is not None
