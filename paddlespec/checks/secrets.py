"""Check for credentials in plain text. Diagnostics never quote them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from paddlespec.checks import environments, reads
from paddlespec.checks.written import written
from paddlespec.render import roles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paddlespec.checks import Env, Facts
    from paddlespec.diagnostic import Diagnostic, Path
    from paddlespec.model import Job, Role
    from paddlespec.render.roles import RoleName

_HINT = "store it in a Secret: `NAME: {secret: SECRET, key: KEY}` under `env`"
_SECRET_NAMES = ("password", "passwd", "passphrase", "token", "secret", "credential", "credentials")
# A text that `_credentials` matches contains one of these; most texts contain none.
_MARKERS = (
    *("AKIA", "ASIA", "-----BEGIN", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "xox", "hf_", "sk-", "AIza", "eyJ", "://"),
)
_FLAG_MARKERS = ("assw", "oken", "ecret", "key", "ugi", "PASSW", "TOKEN", "SECRET", "KEY", "UGI")
# User and password of Hadoop and AFS, as HDFS_UGI, fs_ugi and hadoop.job.ugi hold them: `user,password`.
_UGI = "ugi"
_MIN_KEY_LENGTH = 40


@lru_cache(maxsize=1)
def _credentials() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
        r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY"
        r"|\b(?:gh[pousr]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|glpat-[\w-]{20})"
        r"|\b(?:xox[abprs]-[\w-]{10}|hf_[A-Za-z0-9]{20}|sk-[\w-]{20}|AIza[\w-]{35})"
        r"|(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\."
        r"|://[^\s/:@$]*:(?!\$)[^\s/@$]+@"
    )


@lru_cache(maxsize=1)
def _credential_flags() -> re.Pattern[str]:
    """Match a credential in an argument or assignment of a command."""
    return re.compile(
        r"(?i)(?:^|[\s;&|'\"])(?:--?|export\s+)?[\w-]*"
        r"(?:password|passwd|passphrase|token|secret|api[-_]?key|access[-_]?key)"
        r"(?:=|(?<=[\w])\s+(?=[^-\s]))['\"]?(?![$'\"\s/.<])(?=[^\s'\"]*[0-9])[^\s'\"]{8,}"
        r"|(?:^|[\s;&|'\"])[\w.\-]*ugi['\"]?(?:\s{0,2}[=:]|\s)\s{0,2}['\"]?[^\s'\",$<]+,(?![$<])[^\s'\",]+"
    )


def looks_secret(text: str) -> bool:
    """Whether *text* looks like a credential."""
    if any(marker in text for marker in _MARKERS) and _credentials().search(text):
        return True
    return len(text) >= _MIN_KEY_LENGTH and any(
        len(word) >= _MIN_KEY_LENGTH and _is_random(word) for word in text.replace("=", " ").split()
    )


def _is_random(word: str) -> bool:
    """Whether a long word looks like a generated key rather than a name or path."""
    if not word.isascii() or word.count("/") * 16 > len(word):
        return False
    if not all(char.isalnum() or char in "+/_-" for char in word):
        return False
    counts = [sum(map(kind, word)) for kind in (str.isupper, str.islower, str.isdigit)]
    return min(counts) >= 4 and len(set(word)) >= 20


@lru_cache(maxsize=512)
def names_secret(name: str) -> bool:
    """Whether a variable called *name* holds a credential: `DB_PASSWORD`, `apiKey`."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_").split("_")
    last = parts[-1].rpartition(".")[2]
    if last == "id" and parts[-3:-1] == ["access", "key"]:
        return True
    if last in ("key", "keys"):
        return len(parts) > 1 and parts[-2] in ("api", "access", "private", "secret", "auth")
    return last in (*_SECRET_NAMES, _UGI, "apikey", "accesskey", "secretkey", "authtoken")


def holds_secret(name: str, value: object) -> bool:
    """Whether a variable called *name* with the literal *value* holds a credential."""
    if not isinstance(value, str):
        return False
    named = names_secret(name) and _is_literal(value)
    if named and name.lower().endswith(_UGI):
        # A user alone is no credential.
        user, comma, password = value.partition(",")
        named = bool(user and comma) and not password.startswith(("$", "<")) and password != ""
    return named or looks_secret(value)


def _is_literal(value: object) -> bool:
    """Whether *value* could be a credential: not a path, reference or placeholder."""
    return (
        isinstance(value, str)
        and len(value) >= 4
        and not value.startswith(("/", "$", "./", "<"))
        and value.lower() not in ("true", "false", "none", "null")
    )


@reads("{env}")
def in_env(facts: Facts, path: Path, env: Env) -> Iterator[Diagnostic]:
    """Variables are visible in all output unless they are references or marked sensitive."""
    for name, value in env.items():
        text = value
        if not isinstance(value, (str, int, float)):
            text = None if value.sensitive else value.value
        if not isinstance(text, str):
            continue
        if holds_secret(name, text):
            where = (*path, name)
            if (written(facts.document, where) or "").lstrip("\"'").startswith("${{"):
                continue
            message = f"the value of {name} looks like a credential"
            hint = f"store it in a Secret: `{name}: {{secret: SECRET, key: KEY}}`"
            yield facts.warning("looks-like-secret", message, where, hint)


@reads("spec.parameters")
def in_parameters(facts: Facts) -> Iterator[Diagnostic]:
    """Parameters appear in plain text wherever they are used."""
    for name, value in facts.job.spec.parameters.items():
        if holds_secret(name, value):
            message = f'parameter "{name}" looks like a credential'
            path = ("spec", "parameters", name)
            yield facts.warning("looks-like-secret", message, path, _HINT)


@reads("spec.command", "spec.args", "spec.setup", "spec.teardown", "spec.package")
def in_commands(facts: Facts) -> Iterator[Diagnostic]:
    """Commands are visible in all output and to everyone who may read pods."""
    spec = facts.job.spec
    for name, value in (
        ("command", spec.command),
        ("args", spec.args),
        ("setup", spec.setup),
        ("teardown", spec.teardown),
    ):
        if value:
            yield from in_command(facts, ("spec", name), value)
    if spec.package and spec.package.pip:
        yield from in_command(facts, ("spec", "package", "pip"), spec.package.pip)


@reads("spec.{role}.command", "spec.{role}.args")
def in_role_commands(facts: Facts, name: RoleName, role: Role) -> Iterator[Diagnostic]:
    """Check the command of one role in the same way."""
    for field, value in (("command", role.command), ("args", role.args)):
        if value:
            yield from in_command(facts, (*roles.path(name), field), value)


@reads("spec.patches")
def in_patches(facts: Facts) -> Iterator[Diagnostic]:
    """Patches set values of rendered objects, which everyone sees who may read those."""
    for index in range(len(facts.job.spec.patches)):
        where: Path = ("spec", "patches", index, "patch")
        for path, name in _credentials_in(facts.document.at(where), where):
            what = f"the value of {name}" if name else "a value of the patch"
            yield facts.warning("looks-like-secret", f"{what} looks like a credential", path, _HINT)


def has_sensitive(job: Job) -> bool:
    """Whether *job* marks a literal as sensitive."""
    sources = (source for _, env in environments(job.spec) for source in env.values())
    return any(getattr(source, "sensitive", False) for source in sources)


def _credentials_in(value: object, path: Path, name: str = "") -> Iterator[tuple[Path, str]]:
    """Yield the paths of literals that could be credentials, with the names of their variables."""
    if isinstance(value, dict):
        variable = value.get("name")
        for key, item in value.items():
            own = variable if key == "value" and isinstance(variable, str) else key
            yield from _credentials_in(item, (*path, key), own)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _credentials_in(item, (*path, index))
    elif isinstance(value, str):
        reference = path[-2:-1] == ("secretKeyRef",)
        if holds_secret("" if reference else name, value):
            yield path, name if names_secret(name) and not looks_secret(value) else ""


def in_command(facts: Facts, path: Path, command: str | Sequence[str]) -> Iterator[Diagnostic]:
    """Report credentials in the words of one command."""
    if isinstance(command, str):
        pieces: list[tuple[Path, str]] = [(path, command)]
    else:
        pieces = [((*path, index), word) for index, word in enumerate(command)]
    previous = ""
    for where, text in pieces:
        has_flag = any(marker in text for marker in _FLAG_MARKERS)
        if (
            looks_secret(text)
            or (has_flag and _credential_flags().search(text) is not None)
            or holds_secret(previous.lstrip("-"), text)
        ):
            message = "part of the command looks like a credential"
            yield facts.warning("looks-like-secret", message, where, _HINT)
        previous = text if text.startswith("-") and "=" not in text else ""
